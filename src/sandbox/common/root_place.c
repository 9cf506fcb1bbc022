#include "sandbox/common/root_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "sys/lookup.h"

enum { MAX_LINKS = 8 };

/* What the kernel calls the place, from the root. */
static int name_of(const struct root_places *p, int fd, char to[PATH_MAX])
{
	const char *rest;
	char link[64];
	ssize_t got;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, to, PATH_MAX - 1);
	if (got < 0)
		return -errno;
	to[got] = '\0';
	rest = path_rest(to, p->base);
	if (!rest)
		return -EXDEV;
	memmove(to, rest, strlen(rest) + 1);
	return 0;
}

static int note_made(const struct root_places *p, int fd)
{
	char name[PATH_MAX];
	int r;

	if (!p->made)
		return 0;
	r = name_of(p, fd, name);
	return r < 0 ? r : buf_add(p->made, name, strlen(name) + 1);
}

static int make_in(const struct root_places *p, int dir, const char *name, bool folder)
{
	AUTO_FD fd = -1;
	int r = folder ? mkdirat(dir, name, 0755) : mknodat(dir, name, S_IFREG | 0644, 0);

	if (r < 0)
		return errno == EEXIST ? -ELOOP : -errno; /* a link that leads nowhere */
	if (p->give && fchownat(dir, name, p->uid, p->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = note_made(p, fd);
	return r < 0 ? r : fd_take(&fd);
}

/* The folder that the first n bytes of path name; what is missing is made. */
static int open_folder(const struct root_places *p, const char *path, size_t n)
{
	AUTO_FD dir = fcntl(p->root, F_DUPFD_CLOEXEC, 3);
	char prefix[PATH_MAX];
	const char *name, *end;
	int next;

	for (name = path; dir >= 0 && name < path + n; name = end) {
		end = strchrnul(name, '/');
		if (end == name) {
			end++; /* the slash itself */
			continue;
		}
		(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)(end - path), path);
		next = sys_open_in_root(p->root, prefix, O_PATH | O_DIRECTORY);
		if (next == -ENOENT)
			next = make_in(p, dir, prefix + (name - path), true);
		(void)close(fd_take(&dir));
		dir = next;
		if (next < 0)
			return next;
	}
	return dir < 0 ? -errno : fd_take(&dir);
}

static bool is_own(const char *name)
{
	static const char *const own[] = {"/proc", "/dev", "/sys"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(own); i++)
		if (path_is_in(name, own[i]))
			return true;
	return false;
}

/* Puts the text of a link in the place of the last name. */
static int follow(int link, char path[PATH_MAX])
{
	char text[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);
	char *slash = strrchr(path, '/');

	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	text[n] = '\0';
	if (text[0] == '/')
		slash = path;
	(void)snprintf(joined, sizeof(joined), "%.*s/%s", (int)(slash - path), path, text);
	if (strlen(joined) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path, joined, strlen(joined) + 1);
	/* so that there is a last name */
	for (slash = path + strlen(path); slash > path + 1 && slash[-1] == '/'; slash--)
		slash[-1] = '\0';
	return 0;
}

/* One step: what stands under the last name, made where nothing does. */
static int open_last(const struct root_places *p, const char *path, unsigned kind)
{
	const char *name = strrchr(path, '/') + 1;
	AUTO_FD dir = open_folder(p, path, (size_t)(name - path));
	int fd;

	if (dir < 0)
		return dir;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -ELOOP;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return make_in(p, dir, name, kind & ROOT_PLACE_FOLDER);
	return fd < 0 ? -errno : fd;
}

static int check_place(const struct root_places *p, int fd, unsigned kind)
{
	char name[PATH_MAX];
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (kind & ROOT_PLACE_FOLDER && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (!(kind & ROOT_PLACE_FOLDER) && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EPERM;
	r = name_of(p, fd, name);
	return r < 0 ? r : is_own(name) ? -EXDEV : 0;
}

int root_place(const struct root_places *p, const char *path, unsigned kind)
{
	char now[PATH_MAX];
	struct stat st;
	int links, r;

	if ((size_t)snprintf(now, sizeof(now), "%s", path) >= sizeof(now))
		return -ENAMETOOLONG;
	for (links = 0; links < MAX_LINKS; links++) {
		AUTO_FD fd = open_last(p, now, kind);

		if (fd < 0)
			return fd;
		if (fstat(fd, &st) < 0)
			return -errno;
		if (!S_ISLNK(st.st_mode)) {
			r = check_place(p, fd, kind);
			return r < 0 ? r : fd_take(&fd);
		}
		r = kind & ROOT_PLACE_FOLLOW ? follow(fd, now) : -ELOOP;
		if (r < 0)
			return r;
	}
	return -ELOOP;
}

int root_place_top(const struct root_places *p, const char *name)
{
	int fd = openat(p->root, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		fd = make_in(p, p->root, name, true);
	else if (fd < 0)
		fd = -errno;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode)) {
		(void)close(fd);
		return -ENOTDIR;
	}
	return fd;
}
