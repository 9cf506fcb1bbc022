/*
 * copy_into: entries of a copy into a tree that strangers filled. In the child of merged.h. Private to copy*.c.
 */
#ifndef CORDON_IMAGE_COPY_INTO_H
#define CORDON_IMAGE_COPY_INTO_H

#include "image/copy.h"
#include "image/copy_stream.h"

struct copy_into {
	int root;
	const char *dest;	/* absolute; "/" at its end: a folder */
	struct copy_owner owner; /* of what is made */
	const char *chmod;	/* octal; "": as it is */
	bool one_id;
	bool unowned; /* an owner was asked for, and there is one id */
};

/* Reads the stream to its end. */
int copy_into(struct copy_into *c, struct copy_in *in, struct error *err);

/* The folder at an absolute path, made where it is missing with those above it. *ret_made: something was. An O_PATH fd
 * or -1. */
int copy_into_folder(struct copy_into *c, const char *path, bool *ret_made, struct error *err);

#endif
