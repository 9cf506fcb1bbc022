/*
 * manifest: the JSON of images: OCI indexes, manifests and configs (Docker's schema 2 has the same fields), and the
 * manifest.json of docker-save archives.
 *
 * All of it was written by strangers, so it is read in a child that can do nothing else (conf/parse_role.h), and what
 * the child answers is checked when it is decoded: digests are digests, sizes fit, strings are UTF-8 without controls,
 * paths stay below their folder. Results go into the arena. Failures are ERROR_INPUT and name what was read.
 */
#ifndef CORDON_IMAGE_MANIFEST_H
#define CORDON_IMAGE_MANIFEST_H

#include "base/arena.h"
#include "base/error.h"
#include "image/name.h"
#include "image/store.h"
#include "model/image.h"

enum { MANIFEST_MAX = 4 << 20, MANIFEST_MAX_ENTRIES = 1024 };

/* One blob, as others speak of it. */
struct manifest_blob {
	char digest[IMAGE_DIGEST];
	uint64_t size;
	const char *media;
	/* in an index */
	const char *os, *arch; /* "" where it says nothing */
	const char *name;      /* the image's whole name, or its tag; "" where it says nothing */
};

/* An index (n_manifests) or a manifest (config and layers). */
struct manifest {
	bool is_index;
	struct manifest_blob config;
	struct manifest_blob *entries; /* of an index: manifests; else: layers, lowest first */
	size_t n;
};
int manifest_read(struct sv json, const char *what, struct arena *a, struct manifest *ret, struct error *err);

/* Of a docker-save archive: which images it has, and in which files. */
struct manifest_saved {
	const char *config;
	const char **tags;   /* as written */
	const char **layers; /* lowest first */
	size_t n_layers;
};
int manifest_read_saved(struct sv json, const char *what, struct arena *a, struct manifest_saved **ret, size_t *ret_n,
			struct error *err);

struct manifest_config {
	struct image_config config;
	const char *os, *arch;
	const char **layers; /* digests of the uncompressed layers, lowest first */
	size_t n_layers;
};
int manifest_read_config(struct sv json, const char *what, struct arena *a, struct manifest_config *ret,
			 struct error *err);

/* The parsers themselves, from bytes to bytes (parse_role_fn): for tests. */
struct buf;
int manifest_parse(struct sv json, struct buf *out, struct error *err);
int manifest_parse_saved(struct sv json, struct buf *out, struct error *err);
int manifest_parse_config(struct sv json, struct buf *out, struct error *err);
int manifest_decode(struct sv answer, struct arena *a, struct manifest *ret);
int manifest_decode_saved(struct sv answer, struct arena *a, struct manifest_saved **ret, size_t *ret_n);
int manifest_decode_config(struct sv answer, struct arena *a, struct manifest_config *ret);

#endif
