/*
 * scan_memory: what an earlier search saw, so that a folder that did not change since is not read again.
 *
 * Reading a folder costs the kernel a quarter of a microsecond for each name in it, asking when it changed a
 * microsecond in all: a large repository is searched thirty times as fast.
 *
 * A folder is remembered where nothing in it was found, with inode, time of change (ctime, which nobody can set) and
 * its subfolders' names. It is known again where all of that is the same; every name that appears, goes or moves
 * changes its folder's ctime. Never remembered: a folder that changed in the last seconds (a clock ticks coarsely), one
 * on another file system than the tree's root, one that is encrypted (its names change when a key comes), anything on a
 * file system of which we do not know that it keeps time well.
 *
 * Lies in $XDG_CACHE_HOME/cordon, which no sandbox sees, under a key of all that the search depends on. Only saves
 * time: what cannot be read, written or trusted is passed over.
 */
#ifndef CORDON_PLAN_SCAN_MEMORY_H
#define CORDON_PLAN_SCAN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sha256.h"

struct scan_memory {
	const char *dir; /* NULL: nothing is remembered */
	char name[16];
	struct buf old, now;
	uint64_t dev;
	int64_t settled; /* seconds; what changed later is too young */
	uint64_t learned; /* entries of folders that were read and can be remembered */
};

/* A folder in the course of a search: the caller's storage. */
struct scan_seen {
	size_t old, old_end; /* its record of last time; old_end 0: none */
	size_t next;	     /* its next subfolder of last time */
	size_t now;	     /* its record of this time */
};

/* key: of the guards and the tree. dir: may be NULL. Always succeeds; scan_memory_done() frees. */
void scan_memory_init(struct scan_memory *m, const char *dir, struct sha256 *key, const char *root);
/* Writes down what is worth it. complete: the search came to its end. */
void scan_memory_done(struct scan_memory *m, bool complete);

/* above: the folder it is in; NULL for the tree's root. */
void scan_memory_enter(struct scan_memory *m, struct scan_seen *above, const char *name, struct scan_seen *ret);
/* It had no subfolders last time: if it is known, all is said. */
bool scan_memory_was_leaf(const struct scan_memory *m, const struct scan_seen *f);
/* Known again: *ret_entries is how many it holds. name: in fd, or "" for fd itself. */
bool scan_memory_knows(struct scan_memory *m, struct scan_seen *f, int fd, const char *name, uint32_t *ret_entries);
/* The next subfolder of one that is known; NULL at the end. Valid until scan_memory_done(). */
const char *scan_memory_next(const struct scan_memory *m, const struct scan_seen *f);
/* clean: all its entries were looked at, and none was found; entries: how many. known: as scan_memory_knows() said. */
void scan_memory_leave(struct scan_memory *m, const struct scan_seen *f, bool clean, bool known, uint32_t entries);

#endif
