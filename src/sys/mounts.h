/*
 * mounts: the file-descriptor mount calls, as few as we need. >= 0 or -errno.
 */
#ifndef CORDON_SYS_MOUNTS_H
#define CORDON_SYS_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct sys_userns_rest;

enum mount_flag {
	MOUNT_READ_ONLY = 1,
	MOUNT_NO_EXEC = 2,
	MOUNT_NO_DEV = 4, /* nosuid is always set */
	MOUNT_EXEC = 8,	  /* takes MOUNT_NO_EXEC away */
};

/* A private, detached copy of the tree at path (with what is mounted below it), its attributes set recursively. */
int sys_tree_clone(int dirfd, const char *path, unsigned flags);

/* A copy of the one mount at path with the attributes it has. */
int sys_tree_clone_plain(int dirfd, const char *path);

/*
 * Shows source at target with the attributes it has, with or without what is mounted below it. One call where a
 * detached tree takes three: for places that only we can have made, since links are followed on both sides.
 */
int sys_bind(const char *source, const char *target, bool recursive);

/* As sys_tree_clone(), with the owner disk_id shown as, and stored for, shown_id (both host ids). Needs privilege over
 * the file system. */
int sys_tree_clone_idmapped(int dirfd, const char *path, unsigned flags, int userns_fd);

/* A user namespace fd for an id-mapped mount: `disk` on disk is `shown` through the mount. rest: what is left to
 * sys_userns_end() (sys/userns.h); NULL: nothing is. */
int sys_idmap_userns(uint32_t disk_uid, uint32_t shown_uid, uint32_t disk_gid, uint32_t shown_gid,
		     struct sys_userns_rest *rest);

/* Puts a detached tree on path; "": on dirfd itself. */
int sys_tree_attach(int tree, int dirfd, const char *path);

/* Sets attributes, nosuid among them, of the mount that path is the root of, and makes it private. */
int sys_mount_flags(const char *path, unsigned flags, bool recursive);

/*
 * Can this folder have user attributes? Tries it, and leaves one. In them overlayfs notes that a folder of its upper
 * layer replaces one of a lower layer. Without them (tmpfs before 6.6) it is mounted all the same, but such a folder
 * cannot be made or moved any more.
 */
int sys_takes_attributes(const char *folder);

/*
 * Whoever leaves a mount namespace last takes it down, and waits for all CPUs to do so, several times. With this the
 * kernel does it by itself, some milliseconds later, and our end takes a third of the time. The same goes for the end
 * of an inotify descriptor, which waits for ten milliseconds and more: also, or -1. sys_linger_open() once, when there
 * is time; sys_linger() shortly before the end. Best effort: where either fails, or the kernel is older than 6.8, we
 * take it down ourselves.
 */
struct sys_linger {
	int keeper; /* a socket, which holds the namespace and itself */
	int sender;
	int mounts;
};

int sys_linger_open(struct sys_linger *ret); /* O_CLOEXEC */
void sys_linger(const struct sys_linger *l, int also);

#endif
