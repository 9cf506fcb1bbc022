/*
 * root_image: builds the sandbox's root from an image. In PID 1 of a native sandbox, in its new user and mount
 * namespaces, which then enters it; or, for container runtimes, in the process that becomes the runtime, in a mount
 * namespace of its own.
 *
 * The layers, which may hold anything, are the lower folders of an overlay; nothing of them is looked up by name but
 * below the new root (root_place.h). The image's /proc and /dev must be folders or absent; what it has of /sys stays as
 * it is. Masks and made files come from a small file system of our own that is not part of the new root.
 */
#ifndef CORDON_SANDBOX_ROOT_IMAGE_H
#define CORDON_SANDBOX_ROOT_IMAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "model/plan.h"

/* What it takes from the host, as detached mounts: the layers, topmost first; the folder of upper and work; then the
 * source of each op with `host`, in their order. */
struct root_image_trees {
	int *fds;
	size_t n;
};

/* How many. */
size_t root_image_trees(const struct plan *p);
/* The path and the mount flags of the i-th. */
const char *root_image_tree(const struct plan *p, size_t i, char folder[], size_t room, unsigned *ret_flags);

/* How the image's ids look in the trees. */
enum root_image_ids {
	ROOT_IMAGE_HOST,   /* as on the host: a user namespace gives them their numbers */
	ROOT_IMAGE_INSIDE, /* as inside: there is none. For root only */
	ROOT_IMAGE_OURS,   /* as in our user namespace, in which we are the image's root */
};

/* What the workload leaves in the upper folder may be anything, setuid programs of its ids among it: nobody else must
 * reach it. */
int root_image_check(const struct image_root *r, struct error *err);

/* The i-th, for those who may open all of them. What is shown read-only seems to be inside 0's, whoever owns it here;
 * what is writable must be one's own. */
int root_image_clone(const struct plan *p, size_t i, enum root_image_ids ids, struct error *err);

/* Opens them ourselves, where the user that we are can. Room for root_image_trees(). */
int root_image_open(const struct plan *p, struct root_image_trees *t, struct error *err);

/* Takes the trees. made: the mount points that were missing, as root_place.h notes them. */
int root_image_build(const struct plan *p, const struct root_image_trees *t, struct buf *made, struct error *err);

/*
 * The same without /proc, /dev and masks, which a runtime brings: the root is ROOT_IMAGE_AT below the folder `at`
 * afterwards, in our mount namespace. places: folders that the runtime will mount on, NULL-terminated; everybody may
 * pass through to the first, whatever the image or who changed it made of its modes. Takes the trees.
 */
#define ROOT_IMAGE_AT "root"
int root_image_lay(const struct plan *p, const struct root_image_trees *t, enum root_image_ids ids, const char *at,
		   const char *const *places, struct buf *made, struct error *err);

#endif
