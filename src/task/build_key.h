/*
 * build_key: what a layer is cached under: the digest of all that goes into it. Private to build*.c.
 */
#ifndef CORDON_TASK_BUILD_KEY_H
#define CORDON_TASK_BUILD_KEY_H

#include "base/sha256.h"
#include "task/build_parts.h"

/* The layers of a stage so far, or of an image: lowest first. */
struct build_layers {
	const char **paths;
	const char **digests;
	size_t n, cap;
};

/* What a step takes from elsewhere: NULL where it is the context. */
struct build_sources {
	const char *caches; /* a digest of the steps that wrote to caches before this one, which uses some; "" */
	const struct build_layers *from;	 /* of COPY */
	const struct build_layers *const *mounts; /* of RUN, one each */
};

/* uid and gid: who the step's owner or user is in this image. */
int build_key(const struct build_plan *p, const struct build_layers *below, const struct recipe_step *s,
	      const struct build_sources *from, uint32_t uid, uint32_t gid, uint32_t ids, char ret[SHA256_HEX],
	      struct error *err);

#endif
