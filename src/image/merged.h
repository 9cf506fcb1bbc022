/*
 * merged: an image's layers as one tree, for a child that is its id 0.
 *
 * The child has user and mount namespaces of its own with the image's ids (ids.h); there an overlay of the layers is
 * mounted, its changes in `folder`/upper, or none can be made. Of the host it can reach what anybody can; what it was
 * given are descriptors. It dies with us, and its mounts with it.
 */
#ifndef CORDON_IMAGE_MERGED_H
#define CORDON_IMAGE_MERGED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/image.h"

struct merged_tree {
	const char *const *layers; /* absolute, topmost first, NULL-terminated; may be empty */
	const char *folder;        /* 0700, of inside 0; with the folders upper and work of inside 0. NULL: the tree is
				      read-only */
};

struct merged {
	pid_t pid;
	int report;
};

/* fn(arg, root, kept, err) runs in the child; root is an O_PATH fd, kept is `keep` there. All others are closed. */
int merged_start(const struct image_ids *ids, const struct merged_tree *tree, int keep,
		 int (*fn)(void *arg, int root, int kept, struct error *err), void *arg, struct merged *ret,
		 struct error *err);

/* Waits for it. -1: the child's error, or what ended it. *ret_value: what fn returned, where it was not negative. */
int merged_end(struct merged *m, int *ret_value, struct error *err);

/* The same, but where it has not ended by then (now_ms(); 0: whenever it does) it is ended: ETIMEDOUT. */
int merged_end_by(struct merged *m, int64_t until_ms, int *ret_value, struct error *err);

#endif
