/*
 * context: the files that COPY and ADD name, in a build context or another root, found and read without leaving it.
 *
 * Sources are looked up as if the folder were the root folder (RESOLVE_IN_ROOT): a link in it leads to what it names
 * inside, never outside. What lies in folders that are copied is read as it is: links stay links. Names are taken in
 * the order of their bytes, so that the same tree gives the same entries. FIFOs, sockets and devices are left out. What
 * .dockerignore names is not there, by whichever name it is reached.
 *
 * Nothing is written here; entries go to a sink. The first failure ends it.
 */
#ifndef CORDON_IMAGE_CONTEXT_H
#define CORDON_IMAGE_CONTEXT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "image/modes.h"
#include "image/recipe.h"

enum { CONTEXT_DEPTH = 200, CONTEXT_ENTRIES = 4000000 };

struct context {
	int root;		   /* readable; the caller's */
	const char *const *ignore; /* as struct recipe has it; NULL: nothing is ignored */
	const struct modes
		*modes; /* of a stage: those that its files had; NULL: entries have the modes that they have */
	bool owners;		   /* entries have the owners that they have; else root's */
};

struct context_entry {
	bool alone; /* a source that is a file: goes into the destination, or is it. Else path is below the destination
		     */
	const char *path; /* of a file alone: its last name */
	struct stat st;	  /* mode, owner, time, size */
	int fd;		  /* of a regular file, for reading; else -1 */
	const char *link; /* of a link */
	struct sv content; /* of a heredoc, whose fd is -1 */
};

struct context_sink {
	int (*put)(void *arg, const struct context_entry *e, struct error *err);
	void *arg;
};

/* All that the step copies: its heredocs, then its sources, each where it must be found. *ret_tops: how many files and
 * folders were named. */
int context_walk(const struct context *c, const struct recipe_step *s, const struct context_sink *sink,
		 size_t *ret_tops, struct error *err);

/* One file alone: an archive of ADD, say. fn is called for each source that is a regular file, with its last name;
 * folders are passed over. */
int context_each_file(const struct context *c, const struct recipe_step *s,
		      int (*fn)(void *arg, const char *name, int fd, struct error *err), void *arg, struct error *err);

/* What a mount shows of its root, as the step that copies it to /m: source is its name and NULL, and a name, not a
 * pattern. What is hashed for it and what is mounted both come of this, and so are the same. */
struct recipe_step context_of_mount(const char *source[2]);

#endif
