/*
 * import_parts: what the files of the import share. For import*.c only.
 */
#ifndef CORDON_IMAGE_IMPORT_PARTS_H
#define CORDON_IMAGE_IMPORT_PARTS_H

#include "image/import.h"
#include "image/unpack.h"

struct importing {
	struct image_store *s;
	const struct image_import *im;
	char name[IMAGE_NAME_MAX + 1]; /* canonical */
	struct unpack_counts left_out; /* of all layers together */
	struct unpack_budget budget;
	bool inner; /* what is imported came of an archive */
};

/* One archive from fd becomes a layer, which is held. blob, tar: digests that must come out, or NULL. */
int import_layer(struct importing *i, int fd, const char *what, const char *blob, const char *tar, uint64_t size,
		 struct image_layer *ret, struct error *err);

/* Is the folder no root but the parts of an image? */
bool import_is_layout(int folder);

/* The image in such a folder, which is ours to read. */
int import_layout(struct importing *i, int folder, char ret_digest[IMAGE_DIGEST], struct error *err);

#endif
