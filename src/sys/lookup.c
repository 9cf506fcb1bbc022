#include "sys/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/beneath.h"

static const char *relative(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

static int resolve(int dir, const char *path, int flags, uint64_t how_to)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .resolve = how_to};
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int sys_open_in_root(int root, const char *path, int flags)
{
	int fd = resolve(root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	return fd == -ENOSYS ? sys_open_beneath(root, relative(path), flags, 0) : fd;
}

int sys_open_no_links(const char *path, int flags)
{
	AUTO_FD top = -1;
	int fd = resolve(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);

	if (fd != -ENOSYS)
		return fd;
	top = open("/", O_PATH | O_CLOEXEC);
	return top < 0 ? -errno : sys_open_beneath(top, relative(path), flags, 0);
}

int sys_open_no_magic(int dir, const char *path, int flags)
{
	int fd = resolve(dir, path, flags, RESOLVE_NO_MAGICLINKS);

	if (fd != -ENOSYS)
		return fd;
	fd = openat(dir, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
