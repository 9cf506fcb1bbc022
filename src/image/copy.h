/*
 * copy: what COPY and ADD name, from a context or other layers into an image.
 *
 *	context_walk() -> entries as a tar stream -> a child that is id 0 of the image -> the merged tree of its layers
 *
 * The reader of a build context is ourselves, by descriptor, inside the context (context.h); of other layers it is a
 * child in their ids. The writer is a child of its own that sees the image's layers as one tree (merged.h), in which
 * the destination is looked up as if it were the root folder: a link of the image at the destination leads inside the
 * image, never to the host. What is written is written by descriptor, without following links below the destination.
 *
 * With one id (struct image_ids) everything becomes its own; struct copy_made says that owners were asked for.
 */
#ifndef CORDON_IMAGE_COPY_H
#define CORDON_IMAGE_COPY_H

#include "base/sha256.h"
#include "image/context.h"
#include "image/limit.h"
#include "image/merged.h"

struct copy_owner {
	bool set; /* --chown; else owners are those of the entries */
	uint32_t uid, gid;
};

struct copy_job {
	const struct recipe_step *step;
	const struct image_ids *ids;
	struct merged_tree target;
	/* One of these. */
	const struct context *context;
	const struct merged_tree *source;
	struct copy_owner owner;
	struct image_limit limit;
	bool skip_archives; /* of a context: files alone that copy_is_archive() */
};

/* Does it begin as an archive does that ADD unpacks: tar, or something compressed? */
bool copy_is_archive(int fd);

/* What came of it. */
struct copy_made {
	bool unowned;	  /* owners were asked for, and there is one id */
	uint64_t written; /* what it counts for, as struct image_limit has it */
};

/* -1: err says what of the sources or the destination is wrong, without the line. *ret may count more than was there.
 */
int copy_run(const struct copy_job *job, struct copy_made *ret, struct error *err);

/* A folder and those above it, where they are missing, of this owner: WORKDIR. *ret_made: something was. */
int copy_make_folder(const struct image_ids *ids, const struct merged_tree *target, const char *path,
		     const struct copy_owner *owner, bool *ret_made, struct error *err);

/* Into the digest: all that copy_run() would write of a context. */
int copy_digest(const struct context *c, const struct recipe_step *s, const struct image_limit *limit,
		struct sha256 *to, struct error *err);

#endif
