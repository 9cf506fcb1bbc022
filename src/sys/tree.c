#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { DEPTH_MAX = 4096 };

int sys_make_folders(char *path)
{
	char *at;

	for (at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST) {
			*at = '/';
			return -errno;
		}
		*at = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

DIR *sys_list(int dir)
{
	AUTO_FD again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);

	if (d)
		(void)fd_take(&again);
	return d;
}

/* A folder, made ours to empty: by descriptor, since a link of that name must not lead a change of mode elsewhere. */
static int open_own(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD shut = fd < 0 && errno == EACCES ? openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	char link[64];

	if (shut >= 0) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", shut);
		if (chmod(link, 0700) == 0)
			fd = openat(shut, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0 || fchmod(fd, 0700) < 0)
		return -1; /* no folder, or not ours */
	return fd_take(&fd);
}

static void empty_tree(int dir, unsigned depth)
{
	DIR *d = sys_list(dir);
	struct dirent *e;
	int next;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dir, e->d_name, 0) == 0 || depth > DEPTH_MAX)
			continue;
		next = open_own(dir, e->d_name);
		if (next < 0)
			continue;
		empty_tree(next, depth + 1);
		(void)close(next);
		(void)unlinkat(dir, e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(d);
}

void sys_empty_tree(int dir)
{
	empty_tree(dir, 0);
}

void sys_remove_tree(int dir, const char *name)
{
	AUTO_FD fd = -1;

	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	fd = open_own(dir, name);
	if (fd >= 0)
		empty_tree(fd, 0);
	(void)unlinkat(dir, name, fd >= 0 ? AT_REMOVEDIR : 0);
}
