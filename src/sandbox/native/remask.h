/*
 * remask: keeps denied and protected names covered although the host replaces them.
 *
 * A mask is a mount over a name. When somebody outside the sandbox deletes or replaces the file (an editor that saves
 * by renaming), the kernel drops the mount with it, and the new file would stand open. The kernel tells PID 1 that its
 * mounts have changed, and PID 1 covers the name again, within a millisecond or so. Where the name is gone and may come
 * back, and in any run that lasts, the folders of all masks are watched too, and the top of each folder of the host's,
 * for sockets and FIFOs; not from the start, since the end of a watch takes the kernel ten milliseconds and more, which
 * a short run would wait for. Further folders are not watched: see THREAT-MODEL.md.
 */
#ifndef CORDON_NATIVE_REMASK_H
#define CORDON_NATIVE_REMASK_H

#include "sandbox/native/guard.h"

struct remask {
	int mounts; /* for poll(): POLLPRI when one has changed; -1: nothing to watch */
	int fd;	    /* inotify, for poll(): POLLIN; -1: not yet */
	char **folders; /* by watch number */
	int n_folders;
	bool lacks; /* the kernel gives the user no more watches: rescan.h does it alone */
};

/* After the root was entered. 0 or -errno. */
int remask_init(struct remask *r, const struct plan *plan);
/* From now on watches the folders too. Where that cannot be (no more watches, a folder that cannot be read), rescan.h
 * does it alone. 0 or -errno. */
int remask_watch(struct remask *r, const struct plan *plan);
/* When an fd says so. Give the guard up where a name cannot be covered again. */
void remask_serve(struct remask *r, const struct guard *g);
/* 0 or -errno, as remask_watch(). */
int remask_mounts_changed(struct remask *r, const struct guard *g);

#endif
