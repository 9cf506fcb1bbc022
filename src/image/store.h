/*
 * store: the user's images, content-addressed, in $XDG_DATA_HOME/cordon/images (else ~/.local/share/cordon/images),
 * mode 0700.
 *
 *	layers/sha256-HEX/	the files of one layer as overlayfs wants them (model/image.h), owned by the store's
 *				ids; nobody writes there
 *	images/sha256-HEX	what an image consists of: its layers and its config; named by the digest of the
 *				config's JSON
 *	names/NAME		a link to one of images/ ("/" is written "%")
 *	cache/HEX		a link to one of layers/: what a builder made from the inputs that HEX stands for
 *	tmp/			what is being made or removed, each with a lock of its maker
 *	sizes/sha256-HEX	bytes in files of that layer, as a link's text
 *	ids			who the layers belong to
 *
 * A layer's digest is that of its uncompressed tar; of a layer that came as a folder, that of the tar that image/walk.h
 * writes of it, which is the same wherever it is written. Layers are made in tmp/ and renamed; a name that exists is
 * whole. Imports, builds and removals may run at the same time: changes of names happen while the file `lock` is held,
 * for moments only; whoever uses a layer holds a shared lock on its folder, and a layer that is held, or that an image
 * consists of, is not removed.
 *
 * Everything that is given out is the caller's until its _done(), which also lets go of the locks. None of it may be
 * used by two threads.
 */
#ifndef CORDON_IMAGE_STORE_H
#define CORDON_IMAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "image/name.h"
#include "model/image.h"

enum { IMAGE_MAX_LAYERS = 256 };

struct image_store;

/* Opens it, and makes it where it is missing. */
int image_store_open(struct image_store **ret, struct error *err);
void image_store_close(struct image_store *s); /* NULL is fine */
const char *image_store_path(const struct image_store *s);
const struct image_ids *image_store_ids(const struct image_store *s);

struct image {
	char digest[IMAGE_DIGEST]; /* of its config: what Docker calls the image's id */
	char **names;		   /* canonical, NULL-terminated */
	char **layers;		   /* absolute paths, topmost first, NULL-terminated */
	char **layer_digests;	   /* "sha256:HEX", in the same order */
	size_t n_layers;
	struct image_config config;
	struct image_ids ids; /* whose the layers' files are */
	uint64_t bytes;	      /* in files, of all layers */
	int64_t created;      /* seconds since 1970 */
	/* of store.c */
	struct arena *arena;
	int *locks;
};

/*
 * By its name, or by its digest, whole or the first 12 digits or more. The layers stay as long as `ret` is not done.
 * ERROR_MISSING where there is none; the message says how to get it.
 */
int image_find(struct image_store *s, const char *name, struct image *ret, struct error *err);
void image_done(struct image *i);

/* All of them, by their digests; fn returns 0 to go on. Damaged ones are passed over. */
int image_each(struct image_store *s, int (*fn)(void *arg, struct image *i), void *arg, struct error *err);

/*
 * Takes the name away; where it was the image's last one, or `name` is a digest, the image with its names and those of
 * its layers that nothing else uses. Layers that somebody uses now are removed by the next removal. *ret_freed, where
 * not NULL: bytes in files that are gone.
 */
int image_remove(struct image_store *s, const char *name, uint64_t *ret_freed, struct error *err);

/*
 * Removes the layers that no image has, and what builders would find them by. What somebody holds stays: a build that
 * goes on loses nothing that it has made or found.
 */
struct image_prune {
	bool look; /* only say what would go */
	void (*tell)(void *arg, const char *digest, uint64_t bytes); /* of each layer */
	void *arg;
};
int image_prune(struct image_store *s, const struct image_prune *how, struct error *err);

/* For builders. */

/* One layer, held. */
struct image_layer {
	char digest[IMAGE_DIGEST];
	char *path; /* free()d by image_layer_done() */
	uint64_t bytes;
	int lock;
};
void image_layer_done(struct image_layer *l);

/* The layer of that digest. 1: there is none. */
int image_layer_find(struct image_store *s, const char *digest, struct image_layer *ret, struct error *err);

/*
 * A place to make a layer in, on the store's file system: `upper` is an empty folder of inside 0 with mode 0755, `work`
 * an empty one beside it, `path`, which holds both and nothing else, belongs to inside 0, too, and is closed to others.
 * Whoever ends without image_work_done() leaves it to be swept.
 */
struct image_work {
	char *path, *upper, *work;
	char name[24];
	int lock;
};
int image_work_new(struct image_store *s, struct image_work *ret, struct error *err);
void image_work_done(struct image_store *s, struct image_work *w); /* removes what is left of it */

/* Turns w's upper folder, as overlayfs left it, into a layer; w is without one afterwards. Where the layer is there
 * already, that one is given. No process may still work in it. until_ms: as image_walk_digest() has it. */
int image_add_layer(struct image_store *s, struct image_work *w, int64_t until_ms, struct image_layer *ret,
		    struct error *err);

/*
 * An image of these layers (digests, lowest first: the order in which they were made). Its digest depends on layers and
 * config only. name: canonical or not; NULL: it gets none, and stays until it is removed by its digest.
 */
int image_add(struct image_store *s, const char *name, const struct image_config *config, const char *const *layers,
	      size_t n, char ret_digest[IMAGE_DIGEST], struct error *err);

/* A further name for an image. */
int image_tag(struct image_store *s, const char *digest, const char *name, struct error *err);

/* What was made before from the same inputs: key is 64 lower-case hex digits, the digest of whatever went in. 1:
 * nothing, or it is gone. */
int image_cache_get(struct image_store *s, const char *key, struct image_layer *ret, struct error *err);
int image_cache_put(struct image_store *s, const char *key, const char *digest, struct error *err);

#endif
