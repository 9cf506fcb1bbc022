/*
 * root_image: builds the sandbox's root from an image and enters it. Runs in PID 1, in its new user and mount namespaces, in place of root.h.
 *
 * The layers, which may hold anything, are the lower folders of an overlay; nothing of them is looked up by name but below the new root (root_place.h). The image's /proc and /dev must be folders or absent; what it has of /sys stays
 * as it is. Masks and made files come from a small file system of our own that is not part of the new root.
 */
#ifndef CORDON_NATIVE_ROOT_IMAGE_H
#define CORDON_NATIVE_ROOT_IMAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "model/plan.h"

/* What it takes from the host, as detached mounts: the layers, topmost first; the folder of upper and work; then the source of each op with `host`, in their order. */
struct root_image_trees {
	int *fds;
	size_t n;
};

/* How many. */
size_t root_image_trees(const struct plan *p);
/* The path and the mount flags of the i-th. */
const char *root_image_tree(const struct plan *p, size_t i, char folder[], size_t room, unsigned *ret_flags);

/* Opens them ourselves, where the user that we are can. Room for root_image_trees(). */
int root_image_open(const struct plan *p, struct root_image_trees *t, struct error *err);

/* Takes the trees. made: the mount points that were missing, as root_place.h notes them. */
int root_image_build(const struct plan *p, const struct root_image_trees *t, struct buf *made, struct error *err);

#endif
