/*
 * compose_paths: what a Compose file names, looked at where the task is staged.
 *
 * Every bind, build context and Dockerfile is opened below the file's folder without following any link
 * (sys/beneath.h). The stage is private and no longer changes, so what is seen here is what is used. The source of a
 * writable bind may be missing: its copy (compose_write.h) is then an empty folder, as Docker would make one.
 */
#ifndef CORDON_TASK_COMPOSE_PATHS_H
#define CORDON_TASK_COMPOSE_PATHS_H

#include "model/compose.h"
#include "model/task.h"

/* folder: an fd of the staged folder that holds the file. Problems are added. The number of refusals among them. */
int compose_paths_check(const struct compose *c, int folder, const char *file, struct task_problems *problems);

#endif
