/*
 * build: an image from a task's Dockerfile, or from the name of one, into the store.
 *
 * Two builders behind one interface. `native` (build_native.c) runs each RUN in a Cordon sandbox and makes everything
 * else itself: no daemon, no root. `docker` (build_docker.c) gives Docker Engine a Dockerfile that was written anew
 * from the recipe, and the files that it copies, and nothing else; the result comes back into the store. Either way
 * what a Dockerfile means was settled before (image/recipe.h).
 *
 * Layers are cached by the digest of all that goes into them: what lies below, the step with its variables, the files
 * that it copies. A build whose steps were all made before makes nothing.
 *
 * FROM looks in the store, then at Docker Engine where the operator has one (build_base.h); else it says what to do.
 */
#ifndef CORDON_TASK_BUILD_H
#define CORDON_TASK_BUILD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "image/limit.h"
#include "image/recipe.h"
#include "image/store.h"
#include "task/problems.h"

/* One RUN. argv, env, cwd and ids are in root and argv; output goes where the function likes. Its exit status, or -1.
 */
struct build_run {
	const char *text; /* the instruction, for a person */
	const struct image_root *root;
	char *const *argv;
	bool no_network; /* --network=none */
};

struct build_request {
	struct image_store *store;
	int context;		    /* the folder, private and at rest: a stage (stage.h) */
	const struct modes *modes;  /* that its files had before they were staged; NULL: those that they have */
	const char *dockerfile;	    /* its path below context */
	const char *shown;	    /* what messages call it; NULL: dockerfile */
	const char *target;	    /* NULL: the last stage */
	const char *const *args;    /* "NAME=VALUE", the operator's; NULL: none */
	const char *name;	    /* of the image; NULL: none */
	const char *engine;	    /* the path of Docker Engine's socket, where the operator has one; NULL */
	bool network;       /* RUN may have one: for the docker builder, where the function below is not asked */
	const char *bounds; /* what the function below holds a RUN to that the Dockerfile does not say: a layer is found
			       again only where they are the same; NULL: nothing */
	struct image_limit
		limit; /* room: of the files that a COPY or ADD makes, or that are copied for the mounts of a RUN;
			  until_ms: of all that is made, but for what the function below does. The docker builder: of
			  all that it copies, together, and of the time to put it together */

	int (*run)(void *arg, const struct build_run *r, struct error *err);
	/* A step begins, or was found; at: from 1. NULL: nobody looks. */
	void (*step)(void *arg, size_t at, size_t all, const char *text, bool cached);
	/* Something that a person should know: an owner that could not be given. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

struct build_result {
	char digest[IMAGE_DIGEST];
	size_t steps, cached;
};

/* ERROR_INPUT: the Dockerfile, with its line; or a RUN that failed. ERROR_DENIED: the limit, with EDQUOT or ETIMEDOUT.
 */
int build_native(const struct build_request *req, struct build_result *ret, struct error *err);
int build_docker(const struct build_request *req, struct build_result *ret, struct error *err);

/* By Docker Engine, where it stays, as tag: "NAME:TAG" of characters that need no encoding in an address. The store
 * gets the base images, which are looked at first, and nothing of what is built. */
int build_docker_leave(const struct build_request *req, const char *tag, struct error *err);

/*
 * All that is wrong with a Dockerfile and the files that it names, without building anything: for `task check`. images:
 * what is known of base images is asked of the store, where there is one (NULL: nothing is known). -1: something
 * failed; what is wrong is in problems and returns 0.
 */
int build_check(const struct build_request *req, struct problems *problems, struct error *err);

/* The part of it that is about files: what a recipe without problems copies from the context, and is not there. tell
 * gets one line for each. */
void build_check_files(const struct recipe *r, int context, const char *shown,
		       void (*tell)(void *arg, const char *text), void *arg);

#endif
