/*
 * userns: a user namespace to be entered, or to map ids with, that no process is in yet. >= 0 or -errno.
 */
#ifndef CORDON_SYS_USERNS_H
#define CORDON_SYS_USERNS_H

#include <sys/types.h>

/*
 * A child of ours, with these maps ("INSIDE OUTSIDE COUNT\n" each line), which we must have the right to write; an fd
 * of it (O_CLOEXEC). Our own /proc must be that of our PID namespace. What our soft limit of processes is now bounds
 * all that will ever run in it.
 */
int sys_userns_make(const char *uid_map, const char *gid_map);

/* The same for who has no time: the process that it took is ended, and waited for later. */
struct sys_userns_rest {
	pid_t pid; /* 0: none */
	char *stack;
};

int sys_userns_make_soon(const char *uid_map, const char *gid_map, struct sys_userns_rest *ret);
void sys_userns_end(struct sys_userns_rest *rest); /* of none is fine */

/* The same, for root: it belongs to this user, who so has all capabilities in it, and needs none to enter it. Bounded
 * as if that user had made it. */
int sys_userns_make_for(uid_t uid, gid_t gid, const char *uid_map, const char *gid_map);

/* The one that the namespace behind fd is a child of: an fd of it (O_CLOEXEC). -EPERM where we are not above it. */
int sys_userns_parent(int fd);

#endif
