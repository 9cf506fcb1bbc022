#include "sys/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A folder takes two descriptors while it is emptied, and whoever made the tree may have gone deeper than there are
 * any. */
enum { DEPTH_MAX = 64 };

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

int sys_names_open(struct sys_names *s, int dir)
{
	return sys_names_open_at(s, dir, ".");
}

int sys_names_open_at(struct sys_names *s, int dir, const char *name)
{
	s->at = s->n = 0;
	s->fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

const char *sys_names_next(struct sys_names *s)
{
	const struct sys_entry *e;
	long n;

	do {
		if (s->at == s->n) {
			n = syscall(SYS_getdents64, s->fd, s->bytes, sizeof(s->bytes));
			if (n <= 0)
				return NULL;
			s->at = 0;
			s->n = (size_t)n;
		}
		e = (const struct sys_entry *)(const void *)(s->bytes + s->at);
		s->at += e->length;
		s->type = e->type;
	} while (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0);
	return e->name;
}

void sys_names_close(struct sys_names *s)
{
	(void)close(s->fd);
	s->fd = -1;
}

int sys_open_again(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	char link[64];

	if (fd >= 0 || errno != EACCES)
		return fd;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	if (fstat(dir, &st) < 0 || chmod(link, (st.st_mode & 07777) | 0700) < 0) {
		errno = EACCES;
		return -1;
	}
	return openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool sys_is_empty(int dir)
{
	struct sys_names names;
	bool empty;

	if (sys_names_open(&names, dir) < 0)
		return false;
	empty = !sys_names_next(&names);
	sys_names_close(&names);
	return empty;
}

/* A folder, made ours to empty: by descriptor, since a link of that name must not lead a change of mode elsewhere. */
static int open_own(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD shut =
		fd < 0 && errno == EACCES ? openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
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

/* What lies too deep goes up to the top, and is emptied from there. Whatever had the new name there is to go, too. */
static bool move_up(int dir, const char *name, int top)
{
	AUTO_FD own = open_own(dir, name); /* one that is shut cannot be moved */
	uint64_t number = 0;
	char up[32];

	(void)!getrandom(&number, sizeof(number), 0);
	(void)snprintf(up, sizeof(up), ".up-%016llx", (unsigned long long)number);
	return own >= 0 && renameat(dir, name, top, up) == 0;
}

static void empty_tree(int dir, int top, unsigned depth, bool *moved)
{
	DIR *d = sys_list(dir);
	struct dirent *e;
	int next;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dir, e->d_name, 0) == 0)
			continue;
		if (depth == DEPTH_MAX) {
			*moved |= move_up(dir, e->d_name, top);
			continue;
		}
		next = open_own(dir, e->d_name);
		if (next < 0)
			continue;
		empty_tree(next, top, depth + 1, moved);
		(void)close(next);
		(void)unlinkat(dir, e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(d);
}

/* Every move brings something nearer to the top, so there is a last one. */
void sys_empty_tree(int dir)
{
	bool moved;

	do {
		moved = false;
		empty_tree(dir, dir, 0, &moved);
	} while (moved);
}

void sys_remove_tree(int dir, const char *name)
{
	AUTO_FD fd = -1;

	if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	fd = open_own(dir, name);
	if (fd >= 0)
		sys_empty_tree(fd);
	(void)unlinkat(dir, name, fd >= 0 ? AT_REMOVEDIR : 0);
}
