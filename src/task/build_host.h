/*
 * build_host: what a build is given by whoever drives it, be it for a task (flow_build.c) or for the operator
 * (image_build.h).
 */
#ifndef CORDON_TASK_BUILD_HOST_H
#define CORDON_TASK_BUILD_HOST_H

#include "model/task.h"
#include "task/build.h"

/* The socket of the operator's Docker Engine, which may have an image that the store lacks: the caller's to free. NULL:
 * there is none. */
char *build_engine_path(void);

/* What a RUN may write, in bytes. */
uint64_t build_storage(const struct task_environment *e);

/* What a RUN is held to by the task, as text for the keys of layers: too little of it can change what the RUN leaves
 * behind. NULL: no memory. */
const char *build_limits(const struct task_environment *e, struct arena *to);

#endif
