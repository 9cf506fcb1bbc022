/*
 * carry_view: an image's layers as the one tree that they are.
 *
 * A layered folder is a folder of the image by the descriptors of those layers that have a part in it, topmost first.
 * Names are looked up one at a time, never following a link; a whiteout or an opaque folder ends the search, as in
 * overlayfs.
 */
#ifndef CORDON_TASK_CARRY_VIEW_H
#define CORDON_TASK_CARRY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buf.h"

enum { VIEW_LAYERS_MAX = 128 };

struct layered {
	int *fds;
	size_t n;
};

#define AUTO_LAYERED __attribute__((cleanup(layered_done))) struct layered

/* The root. 0 or -errno (-E2BIG: too many layers). */
int layered_open(struct layered *m, const char *const *layers);
void layered_done(struct layered *m);

/* What the image has there. st_mode 0: nothing. *ret_fd: the layer's folder it was found in; borrowed. */
void layered_stat(const struct layered *m, const char *name, struct stat *ret, int *ret_fd);

/* The folder of that name below m; empty where the image has none. 0 or -errno. */
int layered_enter(const struct layered *m, const char *name, struct layered *ret);

/* The same for a path from the root: relative, canonical. Links on the way lead nowhere. */
int view_enter(const struct layered *root, struct sv path, struct layered *ret);
void view_stat(const struct layered *root, const char *path, struct stat *ret);

/* Has it the same at that path as the folder dir has under that name: a folder, a link with that text, a file with
 * those bytes? */
bool view_same(const struct layered *root, const char *path, int dir, const char *name);

/* Opens the regular file at that path, for reading. An fd, or -errno. */
int view_open(const struct layered *root, const char *path);

/* The same text in both links? */
bool same_links(int dir, const char *name, int other_dir, const char *other_name);

/* The same bytes in both files? */
bool same_bytes(int dir, const char *name, int other_dir, const char *other_name);

/* Names in a layered folder, hidden ones too, each once: fn() returning false ends it. 0 or -errno. */
int layered_names(const struct layered *m, bool (*fn)(void *arg, const char *name), void *arg);

/* The whole of a small regular file of the folder dir, never following links. 0 or -errno (-EFBIG: more than out's
 * maximum). */
int carry_read(int dir, const char *name, struct buf *out);

static inline bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

bool is_opaque(int folder);

#endif
