/*
 * copy: copies of trees: a work folder where there is no overlayfs, and the changes that an overlay kept in memory.
 * Reflinks where the file system has them; never follows a link; no setuid bits, no extended attributes, and no owners,
 * but for copies that are given to a sandbox's user. Times are the original's, where the file system
 * lets them be set; in copies of a work folder and of an
 * overlay's layer hard links are hard links.
 */
#ifndef CORDON_SUPERVISE_COPY_H
#define CORDON_SUPERVISE_COPY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "supervise/copied.h"

/*
 * Copies files, folders and links from the folder `from` to a new folder name in dir. What goes away meanwhile, or
 * becomes something else, is left out, and so is dir itself. copied: for a copy that is to be brought back: gets the
 * names below it and copied_stands(), and what an apply left at the top is not copied (CHANGES_STAGING); NULL: nobody
 * asks.
 */
int copy_tree(int from, int dir, const char *name, struct copied *copied, struct error *err);

/*
 * One for a sandbox's user, `owner`. As root: what has the owner and the group of `from` is his. All else belongs to
 * nobody (copy_others()), as native sandboxes show it: he may read what that owner might through an id-mapped mount, by
 * rights of the owner, of the group or of everybody, and may write nothing. Files that he could not read are empty,
 * folders that he could not enter too. Of others than root all is the caller's.
 */
int copy_given(int from, int dir, const char *name, uid_t owner, struct copied *copied, struct error *err);
/* Who owns in such a copy what is others'. */
uid_t copy_others(uid_t owner);
/* What has these ids is others' than those of the folder that is copied. */
bool copy_is_others(const struct stat *top, uid_t uid, gid_t gid);
/* The user of a copy has in it what is in this folder. */
bool copy_may_enter(const struct stat *top, const struct stat *folder);

/* One that outlives its run: given to the caller; what it was made of is kept beside it, and it is settled (copied.h).
 */
int copy_kept(int from, int dir, const char *name, struct error *err);

/* One name of a folder, with all below it, to another folder. */
int copy_name(int from, int dir, const char *name, struct error *err);

/* The same of an overlay's upper folder, with its marks for what was deleted (whiteouts, opaque folders) and its
 * special files, so that `diff` sees all of it. */
int copy_layer(int from, int dir, const char *name, struct error *err);

#endif
