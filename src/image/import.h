/*
 * import: images from files and folders of this machine into the store.
 *
 * path is a root folder, an OCI layout or the content of a docker-save archive as a folder, a tar of any of these
 * (plain, or compressed with gzip, bzip2, xz or zstd), or "-": such a tar from `input`. Which it is follows from what
 * is in it.
 *
 * Everything in it is hostile: archives are decompressed and unpacked by cordon-unpack (unpack.h), JSON is read in a
 * child that can do nothing else (manifest.h). Digests are taken by ourselves of what passes between them: no blob,
 * layer or config is accepted under a digest that is not its own.
 */
#ifndef CORDON_IMAGE_IMPORT_H
#define CORDON_IMAGE_IMPORT_H

#include "image/store.h"

struct image_import {
	const char *name; /* as FROM would say it; with several images in an archive, the one of that name is taken */
	const char *path;
	int input; /* for "-" */
	/* What is being done, for a person; NULL: nobody looks. `done` bytes of `all` (0: not known). */
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t all);
	/* What was left out of the image: devices, attributes, ids. One line, without a newline. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

int image_import(struct image_store *s, const struct image_import *im, char ret_digest[IMAGE_DIGEST],
		 struct error *err);

#endif
