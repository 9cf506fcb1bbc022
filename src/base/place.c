#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { TEMP_NAME = 40 };

/* A new file of a name that nobody can guess; 0600. */
static int make_temp(int dir, char name[TEMP_NAME])
{
	unsigned long long id = 0;
	int fd;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -errno;
	(void)snprintf(name, TEMP_NAME, ".cordon-%016llx", id);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int try_place(const struct place *p)
{
	char name[TEMP_NAME];
	struct stat st;
	int fd;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	/* what replaces /dev/null or /dev/stdout would be a file */
	if (fstatat(p->dir, p->name, &st, 0) == 0 &&
	    (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISFIFO(st.st_mode)))
		return -EINVAL;
	fd = make_temp(p->dir, name);
	if (fd < 0)
		return fd;
	(void)close(fd);
	return unlinkat(p->dir, name, 0) < 0 ? -errno : 0;
}

static bool is_same(const struct stat *a, const char *path)
{
	struct stat b;

	return lstat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* Nobody whom we started made the names in this folder. */
static bool is_systems(int dir)
{
	struct stat st;

	if (fstat(dir, &st) < 0 || st.st_uid != 0 || (st.st_mode & 022))
		return false;
	return geteuid() != 0 || is_same(&st, "/") || is_same(&st, "/var");
}

static int open_part(int dir, const char *name)
{
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode))
		return fd < 0 ? -errno : fd;
	if (!is_systems(dir))
		return -ELOOP;
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int place_folder(const char *path, const char **ret_name)
{
	AUTO_FD dir = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash;
	char part[NAME_MAX + 1];
	size_t n;
	int fd;

	if (dir < 0)
		return -errno;
	for (; (slash = strchr(path, '/')); path = slash + 1) {
		n = (size_t)(slash - path);
		if (n == 0)
			continue;
		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(part, path, n);
		part[n] = '\0';
		fd = open_part(dir, part);
		if (fd < 0)
			return fd;
		(void)close(dir);
		dir = fd;
	}
	if (path[0] == '\0' || strcmp(path, ".") == 0 || strcmp(path, "..") == 0)
		return -EISDIR;
	*ret_name = path;
	return fd_take(&dir);
}

int place_open(const char *path, struct place *ret)
{
	const char *name = NULL;
	int r;

	*ret = (struct place){.dir = -1};
	r = place_folder(path, &name);
	if (r < 0)
		return r;
	ret->dir = r;
	r = strlen(name) < sizeof(ret->name) ? 0 : -ENAMETOOLONG;
	if (r == 0) {
		memcpy(ret->name, name, strlen(name) + 1);
		r = try_place(ret);
	}
	if (r < 0)
		place_done(ret);
	return r;
}

void place_done(struct place *p)
{
	if (p->dir >= 0)
		(void)close(p->dir);
	p->dir = -1;
}

int place_write(const struct place *p, struct sv bytes)
{
	char name[TEMP_NAME];
	AUTO_FD fd = make_temp(p->dir, name);
	int r;

	if (fd < 0)
		return fd;
	r = write_all(fd, bytes.p, bytes.n);
	if (r == 0 && renameat(p->dir, name, p->dir, p->name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(p->dir, name, 0);
	return r;
}
