/*
 * build_engine: what builders ask of Docker Engine. Private to build*.c.
 */
#ifndef CORDON_TASK_BUILD_ENGINE_H
#define CORDON_TASK_BUILD_ENGINE_H

#include "sandbox/docker/engine.h"
#include "task/build.h"

/* engine_done() it in any case. */
int build_engine_open(const struct build_request *req, struct engine *e, struct error *err);

/* 1: it has an image of that name. */
int build_engine_has(const struct engine *e, const char *name, struct error *err);

/* Its image `from` into the store, as `name`. */
int build_engine_take(const struct build_request *req, const struct engine *e, const char *from, const char *name,
		      char ret_digest[IMAGE_DIGEST], struct error *err);

/* A file without a name beside w's folders. An fd or -1. */
int build_temp_file(struct image_work *w, struct error *err);

#endif
