#include "sys/names.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int sys_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned how)
{
	return syscall(SYS_renameat2, from_dir, from, to_dir, to, how) < 0 ? -errno : 0;
}

int sys_facts_at(int dir, const char *name, struct sys_facts *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);
	struct statx st;

	if (syscall(SYS_statx, dir, name, flags, STATX_INO | STATX_CTIME | STATX_TYPE | STATX_BTIME, &st) < 0)
		return -errno;
	*ret = (struct sys_facts){
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.inode = st.stx_ino,
		.changed = {st.stx_ctime.tv_sec, st.stx_ctime.tv_nsec},
		.folder = (st.stx_mode & S_IFMT) == S_IFDIR,
		.encrypted = st.stx_attributes & STATX_ATTR_ENCRYPTED,
		.mount_root = st.stx_attributes & STATX_ATTR_MOUNT_ROOT,
	};
	if (st.stx_mask & STATX_BTIME)
		ret->born = (struct timespec){st.stx_btime.tv_sec, st.stx_btime.tv_nsec};
	return 0;
}

int sys_next_name(DIR *d, struct dirent **ret)
{
	do {
		errno = 0;
		*ret = readdir(d);
		if (!*ret)
			return -errno;
	} while (strcmp((*ret)->d_name, ".") == 0 || strcmp((*ret)->d_name, "..") == 0);
	return 1;
}
