/*
 * store_parts: what the files of the store share. For store*.c and import*.c only.
 */
#ifndef CORDON_IMAGE_STORE_PARTS_H
#define CORDON_IMAGE_STORE_PARTS_H

#include "base/sha256.h"
#include "image/store.h"

enum { STORE_NAME = 7 + SHA256_HEX, STORE_RECORD_MAX = 4 << 20 };

struct image_store {
	char *path; /* canonical */
	int dir, layers, sizes, names, cache, tmp;
	struct image_ids ids;
};

/* An image as images/ has it: without names, paths and locks. */
struct image_record {
	char digest[IMAGE_DIGEST];
	int64_t created;
	char **layers; /* digests, topmost first, NULL-terminated */
	size_t n_layers;
	uint64_t bytes;
	struct image_config config;
};

/* Held until it is closed. -1 on failure. how: LOCK_SH or LOCK_EX */
int store_lock(const struct image_store *s, int how, struct error *err);

/* "sha256:HEX" <-> "sha256-HEX" */
void store_name_of(const char *digest, char ret[STORE_NAME]);
bool store_digest_of(const char *name, char ret[IMAGE_DIGEST]);

/* Small tables of links, name -> text. 0 or -errno. */
int store_link_get(int dir, const char *name, char *to, size_t size);
int store_link_put(int dir, const char *name, const char *text);

/* Runs fn for each entry that is not hidden, until it returns other than 0. What it returned, or -errno. */
int store_each_name(int dir, int (*fn)(void *arg, const char *name), void *arg);

/* 0, or -1: ERROR_MISSING, or it is damaged. */
int store_record_read(const struct image_store *s, const char *digest, struct arena *a, struct image_record *ret,
		      struct error *err);
int store_record_write(const struct image_store *s, const struct image_record *rec, struct error *err);

/* For each image but those that are damaged, until fn returns other than 0, which comes back. -1 also where one cannot
 * be read just now. */
int store_each_record(const struct image_store *s, int (*fn)(void *arg, const struct image_record *rec), void *arg,
		      struct error *err);

/* The digest that a name, a digest or the beginning of one stands for. 0 or -1, ERROR_MISSING where it does for none.
 */
int store_resolve(const struct image_store *s, const char *name, char ret_digest[IMAGE_DIGEST],
		  char ret_canonical[IMAGE_NAME_MAX + 1], struct error *err);

/* A canonical name as it stands in names/, and back. */
void store_file_of(const char *canonical, char ret[IMAGE_NAME_MAX + 1]);
void store_canonical_of(const char *file, char ret[IMAGE_NAME_MAX + 1]);

/* Opens a layer and holds it. An fd, or -errno. The store must be locked. */
int store_hold(const struct image_store *s, const char *digest);

/* w's upper folder becomes the layer of that digest, unless there is one; *ret is held. */
int store_put_layer(struct image_store *s, struct image_work *w, const char *digest, uint64_t bytes,
		    struct image_layer *ret, struct error *err);

/* image_add() with the digest that the image's maker gave it; NULL: ours. */
int image_add_as(struct image_store *s, const char *name, const char *digest, const struct image_config *config,
		 const char *const *layers, size_t n, char ret_digest[IMAGE_DIGEST], struct error *err);

/* Removes what dead makers left in tmp/, and what was moved there to be removed. Takes the lock itself. */
void store_sweep(struct image_store *s);

/* The layer goes where no image and no builder has it, and nobody holds it: one of an import that failed. */
void store_drop_layer(struct image_store *s, const char *digest);

/* Writes everything to disk that the store holds: a name that survives a crash then stands for what it did before. */
void store_sync(const struct image_store *s);

#endif
