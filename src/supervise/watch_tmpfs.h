/*
 * watch_tmpfs: what the file systems in memory that a sandbox has for itself hold: data, inodes and attributes.
 *
 * They are found in the list of mounts of a process in it, and reached through that process's root: PID 1 lets an
 * ordinary user not look at it, what it started does. Owns fds, which keep them from being hidden later.
 */
#ifndef CORDON_SUPERVISE_WATCH_TMPFS_H
#define CORDON_SUPERVISE_WATCH_TMPFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WATCH_TMPFS_MAX = 32 };

struct watch_tmpfs {
	struct {
		int fd;
		dev_t dev;
	} v[WATCH_TMPFS_MAX];
	size_t n;
	bool found; /* a process let us look; the caller takes it back for the next look */
};

void watch_tmpfs_done(struct watch_tmpfs *t);

/* A visit to a process: finds those of its mounts that can be written to and that the host does not have, where it is
 * the first that lets us. */
void watch_tmpfs_find(int proc, const char *pid, void *tmpfs);

uint64_t watch_tmpfs_bytes(const struct watch_tmpfs *t);

#endif
