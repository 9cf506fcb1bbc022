/*
 * unpack_tree: makes the entries of an archive below a folder, in the form that overlayfs wants of a layer.
 *
 * Every path is resolved below the folder without following any link: an entry that would go through one is refused.
 * Nothing that exists is ever written to: a file, link or FIFO in the way is removed first, an empty folder makes way,
 * a folder with something in it does not. Device nodes are left out and counted, as are attributes but user.*, and ids
 * beyond those that there are, whose files become nobody's (65534). With one id everything is its own, and bits that
 * make a program somebody else's are dropped.
 *
 * A whiteout becomes a character device 0:0 where the layer has nothing of that name, else it makes the layer's own
 * folder opaque: it is about what lies below, in whatever order entries stand.
 *
 * Works with the ids of the caller: it is to be id 0 where there is more than one.
 */
#ifndef CORDON_IMAGE_UNPACK_TREE_H
#define CORDON_IMAGE_UNPACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/tar.h"

struct unpack_limits {
	uint64_t bytes;	  /* in all files, holes included */
	uint64_t entries; /* with folders that are made because something is in them */
};

struct unpack_counts {
	uint64_t entries, bytes;
	uint64_t devices, xattrs, ids, setuid, skipped; /* left out */
};

struct unpack_tree;

/* folder stays the caller's. NULL: no memory. */
struct unpack_tree *unpack_tree_new(int folder, uint32_t ids, const struct unpack_limits *limits);
void unpack_tree_free(struct unpack_tree *u);

/* Makes the entry, with its data from t. 0 or -1. */
int unpack_tree_add(struct unpack_tree *u, const struct tar_entry *e, struct tar *t);
/* Gives folders their times, which had to wait. */
int unpack_tree_finish(struct unpack_tree *u);

const struct unpack_counts *unpack_tree_counts(const struct unpack_tree *u);
/* What is wrong, to stand behind the entry's name; and errno, where a call failed. */
const char *unpack_tree_wrong(const struct unpack_tree *u, int *ret_code);

#endif
