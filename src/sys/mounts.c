#include "sys/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#ifndef __GLIBC__
#include <linux/mount.h> /* which does not go with glibc's sys/mount.h, that has it all */
#endif
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/userns.h"

static int set_attributes(int tree, unsigned flags, uint64_t propagation, int userns_fd, unsigned at_flags)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID, .propagation = propagation};

	if (flags & MOUNT_READ_ONLY)
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	if (flags & MOUNT_NO_EXEC)
		attr.attr_set |= MOUNT_ATTR_NOEXEC;
	if (flags & MOUNT_EXEC)
		attr.attr_clr |= MOUNT_ATTR_NOEXEC;
	if (flags & MOUNT_NO_DEV)
		attr.attr_set |= MOUNT_ATTR_NODEV;
	if (userns_fd >= 0) {
		attr.attr_set |= MOUNT_ATTR_IDMAP;
		attr.userns_fd = (uint64_t)userns_fd;
	}
	return syscall(SYS_mount_setattr, tree, "", at_flags | AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ? -errno : 0;
}

int sys_tree_clone(int dirfd, const char *path, unsigned flags)
{
	return sys_tree_clone_idmapped(dirfd, path, flags, -1);
}

int sys_tree_clone_plain(int dirfd, const char *path)
{
	long tree = syscall(SYS_open_tree, dirfd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	return tree < 0 ? -errno : (int)tree;
}

int sys_bind(const char *source, const char *target, bool recursive)
{
	return mount(source, target, NULL, MS_BIND | (recursive ? MS_REC : 0), NULL) < 0 ? -errno : 0;
}

int sys_tree_clone_idmapped(int dirfd, const char *path, unsigned flags, int userns_fd)
{
	unsigned empty = path[0] ? 0 : AT_EMPTY_PATH;
	long tree = syscall(SYS_open_tree, dirfd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | empty);
	int r;

	if (tree < 0)
		return -errno;
	r = set_attributes((int)tree, flags, MS_PRIVATE, userns_fd, AT_RECURSIVE);
	if (r < 0) {
		(void)close((int)tree);
		return r;
	}
	return (int)tree;
}

int sys_idmap_userns(uint32_t disk_uid, uint32_t shown_uid, uint32_t disk_gid, uint32_t shown_gid,
		     struct sys_userns_rest *rest)
{
	char uids[64], gids[64];

	(void)snprintf(uids, sizeof(uids), "%u %u 1\n", disk_uid, shown_uid);
	(void)snprintf(gids, sizeof(gids), "%u %u 1\n", disk_gid, shown_gid);
	return rest ? sys_userns_make_soon(uids, gids, rest) : sys_userns_make(uids, gids);
}

int sys_tree_attach(int tree, int dirfd, const char *path)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (path[0] ? 0 : MOVE_MOUNT_T_EMPTY_PATH);
	long r = syscall(SYS_move_mount, tree, "", dirfd, path, flags);

	return r < 0 ? -errno : 0;
}

int sys_mount_flags(const char *path, unsigned flags, bool recursive)
{
	AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return set_attributes(fd, flags, MS_PRIVATE, -1, recursive ? AT_RECURSIVE : 0);
}

int sys_takes_attributes(const char *folder)
{
	return setxattr(folder, "user.cordon", "", 0, 0) < 0 ? -errno : 0;
}

int sys_linger_open(struct sys_linger *ret)
{
	int mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), pair[2], code;

	if (mounts < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0) {
		code = errno;
		(void)close(mounts);
		return -code;
	}
	/* Our end closes in this order: the sender's close, the last, is what calls the collector. */
	*ret = (struct sys_linger){.keeper = pair[0], .sender = pair[1], .mounts = mounts};
	return 0;
}

/* A socket that waits in its own queue is garbage when we are gone: the kernel's collector finds it, and what lies
 * beside it. */
void sys_linger(const struct sys_linger *l, int also)
{
	const int fds[] = {l->mounts, l->keeper, also};
	size_t size = also < 0 ? sizeof(fds) - sizeof(fds[0]) : sizeof(fds);
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = {.room = {0}};
	char byte = 0;
	struct iovec v = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(size)};

	control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)};
	memcpy(CMSG_DATA(&control.head), fds, size);
	(void)sendmsg(l->sender, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}
