/*
 * remask: keeps denied and protected names covered although the host replaces them.
 *
 * A mask is a mount over a name. When somebody outside the sandbox deletes or replaces the file (an editor that saves by renaming), the kernel drops the mount with it, and the new
 * file would stand open. PID 1 watches the folders of all masks in writable or shown folders of the host and covers such a name again as soon as the kernel tells, within a millisecond or so.
 * Names that the host makes in folders where none was covered at the start are not watched: see THREAT-MODEL.md.
 */
#ifndef CORDON_NATIVE_REMASK_H
#define CORDON_NATIVE_REMASK_H

#include "sandbox/native/guard.h"

struct remask {
	int fd; /* inotify, for poll(); -1: nothing to watch */
	char **folders; /* by watch number */
	int n_folders;
};

/* After the root was entered. 0 or -errno. Where the user has no more watches (EMFILE, ENOSPC), rescan.h does it alone. */
int remask_init(struct remask *r, const struct plan *plan);
/* When the fd is readable. -errno: a name could not be covered again; the sandbox must end. */
int remask_serve(struct remask *r, const struct guard *g);

#endif
