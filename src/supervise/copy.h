/*
 * copy: copies of trees: a work folder where there is no overlayfs, and the changes that an overlay kept in memory. Reflinks where the file system has them; never follows a
 * link; no owners, no setuid bits, no extended attributes.
 */
#ifndef CORDON_SUPERVISE_COPY_H
#define CORDON_SUPERVISE_COPY_H

#include "base/error.h"

/* Copies files, folders and links from `from` (absolute) to a new folder name in dir. */
int copy_tree(const char *from, int dir, const char *name, struct error *err);

/* The same of an overlay's upper folder, with its marks for what was deleted (whiteouts, opaque folders) and its special files, so that `diff` sees all of it. */
int copy_layer(int from, int dir, const char *name, struct error *err);

#endif
