/*
 * carry_link: where the agent's links lead, in its own view of the file system.
 */
#ifndef CORDON_TASK_CARRY_LINK_H
#define CORDON_TASK_CARRY_LINK_H

#include "task/carry_judge.h"

/* Does a link with this text, at c->at, lead to a place of the runner's or the kernel's, by whatever detour? What cannot be told counts as yes. */
bool carry_link_to_runner(const struct carry *c, struct sv target);

/* Where the path leads in the image. NULL: that cannot be told. The arena's. */
const char *carry_link_resolve(const struct carry *c, struct sv path);

#endif
