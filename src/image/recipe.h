/*
 * recipe: what a Dockerfile asks for, as ordered steps in which nothing is left to interpret.
 *
 * recipe_make() is a pure function: from the file's bytes, .dockerignore, build arguments and what is known of base
 * images to stages and their steps. Variables are expanded, heredocs are files, the shell stands in each RUN's
 * arguments, paths are absolute and clean. Only stages that the target needs are there, in the order in which they can
 * be built; the target is the last. recipe_parse() is the same in a child that can do nothing else (conf/parse_role.h).
 *
 * What is wrong or refused is listed in `problems`, all of it, each "FILE:LINE: INSTRUCTION: what; what to do". A
 * recipe with problems must not be built. Refused are: frontends (# syntax=) other than Docker's own, which means the
 * language that is read here and is never fetched; ADD from URLs and git; sources that leave the context by their name;
 * mounts of secrets and agents; --security=insecure, --network=host, --device; another machine's platform.
 *
 * An image whose configuration was not given counts as empty; it is in `images`. Builders look up what is named there
 * and make the recipe again, until all are known: a trigger (ONBUILD) may name further ones.
 *
 * Limits: RECIPE_STAGES stages, conf/dockerfile.h's of the file, RECIPE_BYTES in all. Everything lives in the caller's
 * arena; arrays of strings end with NULL.
 */
#ifndef CORDON_IMAGE_RECIPE_H
#define CORDON_IMAGE_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/image.h"

enum { RECIPE_STAGES = 256, RECIPE_BYTES = 48 << 20, RECIPE_PROBLEMS = 64 };

/* What is known of an image. */
struct recipe_image {
	const char *name; /* canonical (image/name.h) */
	struct image_config config;
};

struct recipe_request {
	const char *name; /* of the Dockerfile, for messages */
	struct sv dockerfile;
	const char *ignore_name; /* of .dockerignore, for messages */
	struct sv ignore;
	const char *target;   /* a stage's name or number; NULL: the last */
	const char *platform; /* "linux/amd64": this machine's */
	const char *const *args; /* "NAME=VALUE"; NULL: none */
	const struct recipe_image *images;
	size_t n_images;
};

/* Where files or a base come from. */
enum recipe_origin { RECIPE_CONTEXT, RECIPE_STAGE, RECIPE_IMAGE, RECIPE_SCRATCH };

struct recipe_from {
	enum recipe_origin origin;
	uint32_t stage;	   /* index in the recipe's stages; lower than that of the stage that says it */
	const char *image; /* canonical; "" where there is none */
};

/* A heredoc of COPY or ADD. */
struct recipe_file {
	const char *name;
	const char *content;
};

enum recipe_mount_kind { RECIPE_MOUNT_BIND, RECIPE_MOUNT_CACHE, RECIPE_MOUNT_TMPFS };

struct recipe_mount {
	enum recipe_mount_kind kind;
	struct recipe_from from; /* of a bind */
	const char *source;	 /* below it; "/" is the whole */
	const char *target;	 /* absolute */
	const char *id;		 /* of a cache */
};

/* In a source of COPY --parents: the folders before it are not made at the destination. */
#define RECIPE_PIVOT "/./"

enum recipe_kind { RECIPE_RUN, RECIPE_COPY, RECIPE_WORKDIR };

struct recipe_step {
	enum recipe_kind kind;
	uint32_t line;
	const char *text; /* for a person: the instruction as written, on one line, escaped, cut */
	/* RUN; env, user and workdir hold for WORKDIR too: workdir is the folder that is made */
	const char **argv;
	const char **env;  /* all that is set, build arguments too */
	const char **args; /* those of env that are build arguments and will not be in the image */
	const char *user;
	const char *workdir;
	bool no_network;
	struct recipe_mount *mounts;
	size_t n_mounts;
	/* COPY and ADD */
	struct recipe_from from;
	const char **sources; /* patterns as Go's filepath.Match() has them, relative to the root of `from`, clean; "."
				 is the whole. With parents RECIPE_PIVOT may stand in each, once */
	struct recipe_file *files;
	size_t n_files;
	const char *dest; /* absolute and clean, but for a "/" at its end: then it is a folder */
	const char *chown; /* as written; "" where there is none */
	const char *chmod; /* mode.h; "" where there is none */
	const char **excludes;
	bool parents; /* the sources' folders too, those behind the pivot */
	bool literal; /* the sources are names, not patterns: of a mount (context_of_mount()), never in a recipe */
	bool unpack;  /* ADD: archives become what is in them */
};

struct recipe_stage {
	const char *name; /* "" where it has none */
	uint32_t line;
	struct recipe_from from;
	struct recipe_step *steps;
	size_t n_steps;
	struct image_config config;
	const char **further; /* what image_config has no place for (LABEL, EXPOSE, HEALTHCHECK, STOPSIGNAL), as
				 canonical instructions */
};

struct recipe {
	struct recipe_stage *stages;
	size_t n_stages;
	const char **images;  /* canonical names of all that are needed */
	const char **unknown; /* those of them that are a base and whose configuration was not given */
	const char **ignore;  /* patterns, clean, "!" in front of exceptions */
	const char **problems;
};

/* -1: memory, or a request that cannot be right. */
int recipe_make(struct arena *a, const struct recipe_request *req, const struct recipe **ret, struct error *err);

/* Can a recipe begin with an image of this configuration? NULL, or what of it cannot be built on: a child that reads
 * Dockerfiles would take none of the request. */
const char *recipe_base_wrong(const struct image_config *c);

/* recipe_make(), parsed in a child that can do nothing else. */
int recipe_parse(struct arena *a, const struct recipe_request *req, const struct recipe **ret, struct error *err);

/* Both ways; decode checks all that a builder relies on. -1: too large; or not what encode makes. */
int recipe_encode(const struct recipe *r, struct buf *out);
int recipe_decode(struct arena *a, struct sv bytes, const struct recipe **ret);
int recipe_request_encode(const struct recipe_request *req, struct buf *out);
int recipe_request_decode(struct arena *a, struct sv bytes, struct recipe_request *ret);

/* "linux/amd64" and the like for the machine that this was built for. */
const char *recipe_platform(void);

#endif
