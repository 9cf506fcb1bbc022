/*
 * compose_paths: what a Compose file names, looked at where the task is staged.
 *
 * Every bind, build context and Dockerfile is opened below the file's folder without following any link (sys/beneath.h). The stage is private and no longer changes, so what is seen here is what is used. A
 * bind's source may be missing: it then is an empty folder, as Docker would make one, but in a copy (compose_write.h).
 */
#ifndef CORDON_TASK_COMPOSE_PATHS_H
#define CORDON_TASK_COMPOSE_PATHS_H

#include "model/compose.h"
#include "model/task.h"

/* folder: an fd of the staged folder that holds the file. Problems are added. The number of refusals, or -errno. */
int compose_paths_check(const struct compose *c, int folder, const char *file, struct task_problems *problems);

#endif
