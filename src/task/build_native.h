/*
 * build_native: one step of a native build. Private to build_native*.c.
 */
#ifndef CORDON_TASK_BUILD_NATIVE_H
#define CORDON_TASK_BUILD_NATIVE_H

#include "image/copy.h"
#include "image/users.h"
#include "task/build_key.h"

struct native_build {
	const struct build_request *req;
	struct build_plan plan;
	struct arena *arena;
	struct image_ids ids;
	struct build_layers *stages;
	struct image_layer *held; /* layers that were made or found, so that nobody removes them */
	size_t n_held, cap_held;
	struct image_work caches; /* folders of --mount=type=cache; lock -1: none yet */
	char cached[SHA256_HEX];  /* the steps that used them, as a digest; "": none yet */
	bool unowned;		  /* somebody was told */
	uint64_t copied;	  /* what the files count for that were copied for this step, as req->limit has it */
};

/* The same, topmost first and NULL-terminated, as overlays want them. NULL: no memory. */
const char **native_paths(const struct native_build *b, const struct build_layers *l);

/* A place to make a layer in, with a folder `run` of inside 0 that holds upper and work. */
int native_work_new(struct native_build *b, struct image_work *ret, struct error *err);
/* `run`'s upper folder becomes that of the work. */
int native_work_take(struct image_work *w, struct error *err);
/* The path of `run`, or of what is below it. NULL: no memory. */
const char *native_work_path(const struct native_build *b, const struct image_work *w, const char *below);

/* A folder of inside 0 in `run`; the first with upper and work in it. */
int native_make(struct native_build *b, struct image_work *w, const char *name, struct error *err);
int native_make_plain(struct native_build *b, struct image_work *w, const char *name, struct error *err);

/* Carries the step out in w. 0; 1: it changed nothing. */
int native_run(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
	       const struct build_sources *from, struct image_work *w, struct error *err);
int native_copy(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		const struct build_sources *from, struct image_work *w, struct error *err);
int native_workdir(struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		   struct image_work *w, struct error *err);

/* Who that is in the layers below. */
int native_step_user(const struct native_build *b, const struct build_layers *below, const char *user,
		     struct image_user *ret, struct error *err);

/* Whom the step's files or processes belong to: for its key, and for what it does. */
int native_step_owner(const struct native_build *b, const struct build_layers *below, const struct recipe_step *s,
		      uint32_t *uid, uint32_t *gid, struct error *err);

/* Tells once that owners are not what was asked for. */
void native_note_unowned(struct native_build *b);

#endif
