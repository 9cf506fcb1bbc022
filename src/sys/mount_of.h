/*
 * mount_of: which mount an open file is on, and what that shows where. 0 or -errno.
 */
#ifndef CORDON_SYS_MOUNT_OF_H
#define CORDON_SYS_MOUNT_OF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A number that no other mount has. unique: nor ever had, as sys_mount_tell() wants it (Linux 6.8); else as it stands
 * in mountinfo. ret_top (or NULL): the file is what is mounted there itself.
 */
int sys_mount_of(int fd, bool unique, uint64_t *ret, bool *ret_top);

/* The same of what stands at a path, as it stands in mountinfo; a link at its end is not followed. */
int sys_mount_of_path(const char *path, uint64_t *ret);

/*
 * As it is at this moment: which part of its file system a mount shows, by a name that goes along where the folder or
 * one above it is renamed, and where that is seen from the caller's root. Both as in mountinfo, and not escaped.
 */
struct sys_mount_told {
	char root[PATH_MAX], point[PATH_MAX];
};

/* -ENOSYS: the kernel is older than 6.8. */
int sys_mount_tell(uint64_t unique, struct sys_mount_told *ret);
/* By mountinfo, for any kernel. proc: a folder with the caller's own "self". */
int sys_mount_read(int proc, uint64_t id, struct sys_mount_told *ret);

#endif
