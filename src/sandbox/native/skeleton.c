#include "sandbox/native/skeleton.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "sandbox/common/places.h"

#define HALF "half-"

enum { PLACE_UMASK = 022 };

/* A folder of ours that nobody else can enter. */
static int open_own(int at, const char *path)
{
	AUTO_FD fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid != geteuid() || (st.st_mode & 0777) != 0700 ? -EPERM : fd_take(&fd);
}

static int open_roots(const char *cache, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/roots", cache) >= PATH_MAX)
		return -ENAMETOOLONG;
	return open_own(AT_FDCWD, path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* What nobody uses may go; so may what was left half made. */
static void remove_unused(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_tree(path);
}

void skeleton_release(int fd, const struct plan *plan, bool damaged)
{
	char path[PATH_MAX];

	(void)close(fd);
	if (!damaged || (size_t)snprintf(path, sizeof(path), "%s", plan->skeleton) >= sizeof(path))
		return;
	*strrchr(path, '/') = '\0';
	remove_unused(path);
}

/* A small file that the plan makes: the very bytes, and nobody else can have a hand on them. */
static bool has_file(int root, const struct plan_op *op)
{
	AUTO_FD fd = openat(root, op->target + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t n = strlen(op->source);
	struct stat st;
	char room[4096];

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return false;
	if ((st.st_mode & 07777) != (op->mode & ~PLACE_UMASK) || st.st_size != (off_t)n || n > sizeof(room))
		return false;
	return read(fd, room, sizeof(room)) == (ssize_t)n && memcmp(room, op->source, n) == 0;
}

static bool has_link(int root, const struct plan_op *op)
{
	char room[PATH_MAX];
	ssize_t n = readlinkat(root, op->target + 1, room, sizeof(room));

	return n >= 0 && (size_t)n == strlen(op->source) && memcmp(room, op->source, (size_t)n) == 0;
}

/* What the header says is looked at. */
bool skeleton_is_whole(int fd, const struct plan *p)
{
	AUTO_FD root = openat(fd, "root", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct plan_op *op;
	struct stat st;
	size_t i;

	if (root < 0 || fstat(root, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 07777) != 0755)
		return false;
	for (i = 0; i < p->n_ops; i++) {
		op = &p->ops[i];
		if (!places_has(p, op))
			continue;
		if ((op->kind == PLAN_FILE && !has_file(root, op)) || (op->kind == PLAN_LINK && !has_link(root, op)))
			return false;
	}
	return true;
}

int skeleton_find(const char *cache, struct plan *plan)
{
	char path[PATH_MAX], name[SHA256_HEX];
	AUTO_FD roots = -1;
	AUTO_FD fd = -1;
	int r = places_digest(plan, name);

	roots = r < 0 ? r : open_roots(cache, path);
	if (roots < 0)
		return roots;
	fd = open_own(roots, name);
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 || faccessat(fd, "root", F_OK, 0) < 0)
		return -errno;
	plan->skeleton = arena_printf(plan->arena, "%s/%s/root", path, name);
	return plan->skeleton ? fd_take(&fd) : -ENOMEM;
}

struct found {
	char name[SHA256_HEX];
	time_t made;
};

static int oldest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->made > y->made) - (x->made < y->made);
}

/* Being made, and locked meanwhile; or left so by somebody who was killed. */
static bool is_half(const char *name)
{
	return strncmp(name, HALF, strlen(HALF)) == 0;
}

static void sweep(int dir, const char *path)
{
	struct found v[4 * SKELETON_KEEP];
	int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	struct stat st;
	char old[PATH_MAX];
	size_t n = 0, i;

	while (d && n < ARRAY_LEN(v) && (e = readdir(d))) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof(v[n].name) ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		memcpy(v[n].name, e->d_name, strlen(e->d_name) + 1);
		v[n++].made = st.st_mtim.tv_sec;
	}
	if (d)
		(void)closedir(d);
	if (n > SKELETON_KEEP)
		qsort(v, n, sizeof(v[0]), oldest_first);
	for (i = 0; i < n; i++)
		if ((i + SKELETON_KEEP < n || is_half(v[i].name)) &&
		    snprintf(old, sizeof(old), "%s/%s", path, v[i].name) < (int)sizeof(old))
			remove_unused(old);
}

/* After a crash a file that was renamed into place may still be empty, unless it was on disk before. */
static int flush_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	AUTO_FD fd = -1;

	(void)at;
	if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_size == 0)
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? errno : 0;
}

/* Fills an empty folder. */
static int fill(const char *path, const struct plan *plan)
{
	AUTO_FD here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	mode_t old = umask(PLACE_UMASK);
	struct error ignored = {0};
	int r = here < 0 || mkdir(path, 0755) < 0 || chdir(path) < 0 ? -errno : 0;

	if (r == 0)
		r = places_make(plan, &ignored) < 0 ? -EIO : 0;
	(void)umask(old);
	if (here >= 0 && fchdir(here) < 0)
		r = -errno;
	return r < 0 ? r : -nftw(path, flush_one, 16, FTW_PHYS | FTW_MOUNT);
}

static int make_whole(int roots, const char *path, const char *name, const struct plan *plan)
{
	char half[PATH_MAX + 32], root[PATH_MAX + 40];
	AUTO_FD fd = -1;
	int r;

	/* No number of ours: in another pid namespace somebody else has the same. */
	(void)snprintf(half, sizeof(half), "%s/" HALF "XXXXXX", path);
	if (!mkdtemp(half))
		return -errno;
	(void)snprintf(root, sizeof(root), "%s/root", half);
	fd = open(half, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0 ? -errno : fill(root, plan);
	/* It takes the mark's place. Where somebody was faster, theirs stays. */
	if (r == 0 && renameat(AT_FDCWD, half, roots, name) < 0)
		r = -errno;
	if (r < 0)
		remove_tree(half);
	return r;
}

static bool is_there(int roots, const char *name)
{
	AUTO_FD fd = openat(roots, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && faccessat(fd, "root", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int skeleton_make(const char *cache, const struct plan *plan)
{
	char path[PATH_MAX], name[SHA256_HEX];
	AUTO_FD roots = -1;
	int r = places_digest(plan, name);

	roots = r < 0 ? r : open_roots(cache, path);
	if (roots == -ENOENT && mkdir(path, 0700) == 0)
		roots = open_roots(cache, path);
	if (roots < 0)
		return roots;
	/* of many sandboxes that were begun at the same time each comes here, and one is enough */
	if (is_there(roots, name))
		return 0;
	if (mkdirat(roots, name, 0700) < 0)
		r = errno == EEXIST ? make_whole(roots, path, name, plan) : -errno;
	sweep(roots, path);
	return r;
}
