/*
 * copy: copies of trees: a work folder where there is no overlayfs, and the changes that an overlay kept in memory. Reflinks where the file system has them; never follows a
 * link; no owners, no setuid bits, no extended attributes.
 */
#ifndef CORDON_SUPERVISE_COPY_H
#define CORDON_SUPERVISE_COPY_H

#include "base/error.h"
#include "supervise/copied.h"

/*
 * Copies files, folders and links from the folder `from` to a new folder name in dir. What goes away meanwhile, or becomes something else, is left out, and so is dir itself. copied: for a copy that is to be brought back: gets the names
 * below it and copied_stands(), and what an apply left at the top is not copied (CHANGES_STAGING); NULL: nobody asks.
 */
int copy_tree(int from, int dir, const char *name, struct copied *copied, struct error *err);

/* One that outlives its run: what it was made of is kept beside it, and it is settled (copied.h). */
int copy_kept(int from, int dir, const char *name, struct error *err);

/* One name of a folder, with all below it, to another folder. */
int copy_name(int from, int dir, const char *name, struct error *err);

/* The same of an overlay's upper folder, with its marks for what was deleted (whiteouts, opaque folders) and its special files, so that `diff` sees all of it. */
int copy_layer(int from, int dir, const char *name, struct error *err);

#endif
