/*
 * recipe_write: a recipe as a Dockerfile in which nothing is left to interpret: for Docker Engine's builder.
 *
 * No directive, heredoc, shell form or variable: commands and copies are JSON arrays, values are quoted so that they
 * expand to themselves. Stages are called s0, s1 and so on. It says what the oldest builder that is supported
 * understands; what that one cannot do is refused (ERROR_INPUT, with the line). The mounts of caches and temporary
 * folders are left out: commands work without them.
 */
#ifndef CORDON_IMAGE_RECIPE_WRITE_H
#define CORDON_IMAGE_RECIPE_WRITE_H

#include "image/recipe.h"

struct recipe_writer {
	const char *name; /* of the original file, for messages */
	/* Writes the lines of a copy from the context; s is the at-th of all steps. NULL: it is written with its own
	 * sources. */
	int (*copy)(void *arg, size_t at, const struct recipe_step *s, struct buf *out, struct error *err);
	void *arg;
	bool no_network; /* no RUN has one, so that --network=none says nothing new */
};

int recipe_write(struct arena *a, const struct recipe *r, const struct recipe_writer *w, struct buf *out,
		 struct error *err);

/* "COPY" with the owner of s and its destination: `COPY --chown=... ["source", "destination"]`. */
void recipe_write_copy(struct arena *a, struct buf *out, const char *word, const struct recipe_step *s,
		       const char *from, const char *const *sources, const char *dest);

#endif
