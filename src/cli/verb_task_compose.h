/*
 * verb_task_compose: cordon task compose, up and down: a task's services as Docker's own tools would run them.
 */
#ifndef CORDON_VERB_TASK_COMPOSE_H
#define CORDON_VERB_TASK_COMPOSE_H

#include "cli/cli.h"

extern const struct option verb_task_compose_options[];
extern const struct option verb_task_up_options[];
int verb_task_compose(struct call *call, struct error *err);
int verb_task_up(struct call *call, struct error *err);
int verb_task_down(struct call *call, struct error *err);

#endif
