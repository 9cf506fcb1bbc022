/*
 * build_parts: what both builders share. Private to build*.c.
 */
#ifndef CORDON_TASK_BUILD_PARTS_H
#define CORDON_TASK_BUILD_PARTS_H

#include "image/context.h"
#include "task/build.h"

/* An image that a recipe needs, held. */
struct build_base {
	const char *name; /* canonical; in the recipe's arena */
	struct image image;
};

struct build_plan {
	struct arena *arena;
	const struct recipe *recipe;
	struct build_base *bases;
	size_t n_bases;
	const char *shown; /* the Dockerfile, for messages */
	const char *bounds; /* the request's */
	struct image_limit limit;
	struct context context;
};

/* Reads the Dockerfile, finds the images, and makes the recipe until all of them are known. -1 where it has problems:
 * the first of them. build_plan_done() it in any case. */
int build_plan(const struct build_request *req, struct build_plan *ret, struct error *err);
void build_plan_done(struct build_plan *p);

/* Reads it without looking for images but in the store. The problems are the recipe's. */
int build_plan_look(const struct build_request *req, struct build_plan *ret, struct error *err);

/* An image that the store lacks, from Docker Engine. 1: there is no engine, or it has none. */
int build_base_fetch(const struct build_request *req, const char *name, struct error *err);

const struct build_base *build_base_of(const struct build_plan *p, const char *name);

/* Puts "FILE:LINE: " before the error. Returns -1. */
int build_fail(const struct build_plan *p, const struct recipe_step *s, struct error *err);

#endif
