/*
 * compose_fit: what `cordon task run` makes of a task's services, beyond what compose_plan.h refuses. Pure.
 *
 * A key that was read (compose.h) is honoured by a run, or it is in the table here: refused; or told in a warning,
 * where leaving it out gives a service no less than it asked for, or only less than a service here can have. Nothing is
 * passed over in silence. cordon-compose(5) lists all keys; a test holds that list to the reader's tables.
 */
#ifndef CORDON_TASK_COMPOSE_FIT_H
#define CORDON_TASK_COMPOSE_FIT_H

#include "model/compose.h"
#include "model/task.h"

/* runner: struct compose_runner's image. Problems are added. */
void compose_fit(const struct compose *c, const struct task *t, const char *runner, struct task_problems *problems);

/* Does a command only wait until it is ended, as that of a container does that others run their commands in? For tests.
 */
bool compose_only_waits(const struct compose_strings *entrypoint, const struct compose_strings *command);

#endif
