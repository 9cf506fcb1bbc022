/*
 * changes_stage: makes, in a private folder, what an apply will move into the work folder. For changes_apply.c only.
 *
 * Content is read by file descriptor from upper and must still be what the scan judged, before and after reading. Holes
 * stay holes. Nothing but bytes, permissions (0777; of folders the sticky bit, too), link targets and times is taken
 * over: no attribute, no owner. What takes the place of something has the group of that, where we may give it, and as
 * root its owner. As root what is new belongs to the owner and group of the folder it will land in; else its group
 * follows a folder with the setgid bit.
 *
 * A time that is yet to come, which a workload may choose, is now: nothing that is staged is to seem changed later
 * (changes_journal.h).
 */
#ifndef CORDON_SUPERVISE_CHANGES_STAGE_H
#define CORDON_SUPERVISE_CHANGES_STAGE_H

#include "supervise/changes.h"

struct stage {
	int upper_fd;
	const struct stat *parent; /* the folder of lower it will land in */
};

/* Makes c->after at name in dirfd; a folder empty, and open for its owner until stage_folder_mode(). -ESTALE: upper
 * changed. 0 or -errno. */
int stage_object(const struct stage *st, const struct change *c, int dirfd, const char *name);

/* Group of what c brings to st->parent; -1: as it is made. */
gid_t stage_group(const struct stage *st, const struct change *c);

/* What is at name gets the times of c->after; a folder behind all that is in it. Where the file system has none to set
 * (of links, on sshfs), it keeps its own: times decide nothing. */
void stage_times(const struct change *c, int dirfd, const char *name);

/* The permissions that a new folder ends up with. */
mode_t stage_folder_mode(const struct stage *st, const struct change *c);

#endif
