#include "task/carry_view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "sys/tree.h"

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

bool is_opaque(int folder)
{
	char value[4];

	return fgetxattr(folder, "user.overlay.opaque", value, sizeof(value)) == 1 && value[0] == 'y';
}

void layered_done(struct layered *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		(void)close(m->fds[i]);
	free(m->fds);
	*m = (struct layered){0};
}

int layered_open(struct layered *m, const char *const *layers)
{
	struct layered r = {.fds = calloc(VIEW_LAYERS_MAX, sizeof(int))};
	int code;

	if (!r.fds)
		return -ENOMEM;
	for (; *layers; layers++) {
		r.fds[r.n] = r.n < VIEW_LAYERS_MAX - 1 ? open(*layers, FOLDER) : -1;
		if (r.fds[r.n] < 0) {
			code = r.n < VIEW_LAYERS_MAX - 1 ? errno : E2BIG;
			layered_done(&r);
			return -code;
		}
		r.n++;
	}
	*m = r;
	return 0;
}

void layered_stat(const struct layered *m, const char *name, struct stat *ret, int *ret_fd)
{
	size_t i;

	*ret = (struct stat){0};
	for (i = 0; i < m->n; i++) {
		if (fstatat(m->fds[i], name, ret, AT_SYMLINK_NOFOLLOW) < 0) {
			*ret = (struct stat){0};
			continue;
		}
		if (is_whiteout(ret))
			*ret = (struct stat){0};
		*ret_fd = m->fds[i];
		return;
	}
}

int layered_enter(const struct layered *m, const char *name, struct layered *ret)
{
	struct layered r = {.fds = m->n ? calloc(m->n, sizeof(int)) : NULL};
	struct stat st;
	size_t i;
	int fd;

	if (m->n && !r.fds)
		return -ENOMEM;
	for (i = 0; i < m->n; i++) {
		if (fstatat(m->fds[i], name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISDIR(st.st_mode))
			break;
		fd = openat(m->fds[i], name, FOLDER);
		if (fd < 0) {
			fd = -errno;
			layered_done(&r);
			return fd;
		}
		r.fds[r.n++] = fd;
		if (is_opaque(fd))
			break;
	}
	*ret = r;
	return 0;
}

int view_enter(const struct layered *root, struct sv path, struct layered *ret)
{
	AUTO_LAYERED at = {0};
	char name[NAME_MAX + 1];
	size_t n;
	int r = layered_enter(root, ".", &at);

	while (r == 0 && path.n) {
		const char *slash = memchr(path.p, '/', path.n);
		struct layered next = {0};

		n = slash ? (size_t)(slash - path.p) : path.n;
		if (n >= sizeof(name))
			return -ENAMETOOLONG;
		memcpy(name, path.p, n);
		name[n] = '\0';
		path = sv_n(path.p + n + (slash != NULL), path.n - n - (slash != NULL));
		r = layered_enter(&at, name, &next);
		layered_done(&at);
		at = next;
	}
	if (r < 0)
		return r;
	*ret = at;
	at = (struct layered){0};
	return 0;
}

/* What is at the path, and the folder of a layer that has it, to be closed; -1: nothing. */
static void find(const struct layered *root, const char *path, struct stat *ret, int *ret_fd)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	AUTO_LAYERED at = {0};
	int fd = -1;

	*ret = (struct stat){0};
	*ret_fd = -1;
	if (view_enter(root, sv_n(path, slash ? (size_t)(slash - path) : 0), &at) < 0)
		return;
	layered_stat(&at, name, ret, &fd);
	if (ret->st_mode)
		*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void view_stat(const struct layered *root, const char *path, struct stat *ret)
{
	AUTO_FD fd = -1;

	find(root, path, ret, &fd);
}

int view_open(const struct layered *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	AUTO_FD dir = -1;
	struct stat st;
	int fd;

	find(root, path, &st, &dir);
	if (dir < 0 || !S_ISREG(st.st_mode))
		return -ENOENT;
	fd = openat(dir, slash ? slash + 1 : path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool same_bytes(int dir, const char *name, int other_dir, const char *other_name)
{
	AUTO_FD a = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FD b = openat(other_dir, other_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char x[16384], y[16384];
	ssize_t n;

	while (a >= 0 && b >= 0) {
		n = read(a, x, sizeof(x));
		if (n < 0 || read(b, y, sizeof(y)) != n)
			return false;
		if (n == 0)
			return true;
		if (memcmp(x, y, (size_t)n) != 0)
			return false;
	}
	return false;
}

bool same_links(int dir, const char *name, int other_dir, const char *other_name)
{
	char a[PATH_MAX], b[PATH_MAX];
	ssize_t n = readlinkat(dir, name, a, sizeof(a));

	return n > 0 && readlinkat(other_dir, other_name, b, sizeof(b)) == n && memcmp(a, b, (size_t)n) == 0;
}

bool view_same(const struct layered *root, const char *path, int dir, const char *name)
{
	const char *slash = strrchr(path, '/'), *found = slash ? slash + 1 : path;
	AUTO_FD fd = -1;
	struct stat st, other;

	find(root, path, &st, &fd);
	if (fd < 0 || fstatat(dir, name, &other, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (st.st_mode & S_IFMT) != (other.st_mode & S_IFMT))
		return false;
	/* a layer that both images have */
	if (S_ISDIR(st.st_mode) || (st.st_dev == other.st_dev && st.st_ino == other.st_ino))
		return true;
	return S_ISLNK(st.st_mode)
		       ? same_links(fd, found, dir, name)
		       : S_ISREG(st.st_mode) && st.st_size == other.st_size && same_bytes(fd, found, dir, name);
}

/* Is the name in a layer above this one? Then it was seen. */
static bool seen(const struct layered *m, size_t layer, const char *name)
{
	struct stat st;
	size_t i;

	for (i = 0; i < layer; i++)
		if (fstatat(m->fds[i], name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

int layered_names(const struct layered *m, bool (*fn)(void *arg, const char *name), void *arg)
{
	struct dirent *e;
	bool go = true;
	size_t i;

	for (i = 0; go && i < m->n; i++) {
		DIR *d = sys_list(m->fds[i]);

		if (!d)
			return -errno;
		while (go && (e = readdir(d)))
			if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !seen(m, i, e->d_name))
				go = fn(arg, e->d_name);
		(void)closedir(d);
	}
	return 0;
}

int carry_read(int dir, const char *name, struct buf *out)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? buf_read_fd(out, fd) : -EINVAL;
}
