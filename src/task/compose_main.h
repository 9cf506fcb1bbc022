/*
 * compose_main: of what the agent's own service of a task is made, said once for all who make it. Pure.
 *
 * In this order: the ready image that the task's own file names (docker_image); what its service builds; the task's
 * Dockerfile; the image that its service names. Harbor lays the task's Compose file over one of its own that builds the
 * Dockerfile, so there an image beside it is only the name of what is built; a Terminal-Bench task has no other file
 * than its own, so that an image without `build` is that image, unless it is the runner's name for what it builds.
 */
#ifndef CORDON_TASK_COMPOSE_MAIN_H
#define CORDON_TASK_COMPOSE_MAIN_H

#include "model/compose.h"
#include "model/task.h"

/* Of a task without a Compose file. */
extern const struct compose_service compose_main_none;

/* s: a copy of the service. Afterwards its build is set, relative to the task's context, or its image is a ready one.
 * runner: struct compose_runner's image. */
void compose_main_choose(const struct task *t, const char *runner, struct compose_service *s);

#endif
