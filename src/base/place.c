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
	if (fstatat(p->dir, p->name, &st, 0) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) || S_ISFIFO(st.st_mode)))
		return -EINVAL;
	fd = make_temp(p->dir, name);
	if (fd < 0)
		return fd;
	(void)close(fd);
	return unlinkat(p->dir, name, 0) < 0 ? -errno : 0;
}

/* The folder of a path; -errno. */
static int open_folder(const char *path, const char *slash)
{
	AUTO_FREE char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return fd < 0 ? -errno : fd;
}

int place_open(const char *path, struct place *ret)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int r;

	*ret = (struct place){.dir = -1};
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EISDIR;
	if (strlen(name) >= sizeof(ret->name))
		return -ENAMETOOLONG;
	memcpy(ret->name, name, strlen(name) + 1);
	ret->dir = open_folder(path, slash);
	r = ret->dir < 0 ? ret->dir : try_place(ret);
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
