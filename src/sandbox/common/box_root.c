#include "sandbox/common/box_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/common/places.h"
#include "sandbox/common/root_image.h"
#include "sys/tree.h"

#define ROOTS ".roots"
#define HALF "half-"

/* Some runtimes give a file system in memory the mode of the place that it is mounted on. */
static void open_scratch(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_TMPFS)
			(void)chmod(p->ops[i].target + 1, BOX_SCRATCH_MODE);
}

static int make_places(struct box *b, const char *path, struct error *err)
{
	AUTO_FD before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mode_t mask = umask(0);
	int r = -1;

	if (chdir(path) < 0)
		(void)error_sys(err, errno, "%s", path);
	else if (places_make(b->plan, err) == 0)
		r = (mkdir("run", 0755) < 0 && errno != EEXIST) || (mkdir("run/cordon", 0755) < 0 && errno != EEXIST) ||
				    chmod(".", 0755) < 0
			    ? error_sys(err, errno, "%s" BOX_DIR, path)
			    : 0;
	if (r == 0)
		open_scratch(b->plan);
	(void)umask(mask);
	/* where the folder we were started in is gone or closed to us, the root will do */
	if (before < 0 || fchdir(before) < 0)
		(void)!chdir("/");
	return r;
}

static int use(struct box *b, const char *path)
{
	b->root_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Somebody may have removed it just before we had the lock. Not waited for: who may pass through all boxes can
	 * look it up, and lock it. */
	if (b->root_fd >= 0 && flock(b->root_fd, LOCK_SH | LOCK_NB) == 0 && access(path, F_OK) == 0) {
		b->root = path;
		return 0;
	}
	if (b->root_fd >= 0)
		(void)close(fd_take(&b->root_fd));
	return -1;
}

/* For this run alone. */
static int make_own(struct box *b, struct error *err)
{
	const char *path = arena_printf(b->arena, "%s/root", b->dir);

	if (!path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (mkdir(path, 0755) < 0)
		return error_sys(err, errno, "%s", path);
	return make_places(b, path, err) < 0 ? -1 : use(b, path) < 0 ? error_sys(err, errno, "%s", path) : 0;
}

/* Whoever renames first has made it; the others' is removed. While the folder of all boxes is held, nobody takes it for
 * what a dead one left. */
static int make_shared(struct box *b, const char *root, const char *path, struct error *err)
{
	char *half = arena_printf(b->arena, "%s/" ROOTS "/" HALF "XXXXXX", root);
	AUTO_FD all = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!half)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (all < 0 || flock(all, LOCK_SH) < 0 || !mkdtemp(half))
		return error_sys(err, errno, "%s", half);
	if (make_places(b, half, err) == 0 && rename(half, path) == 0)
		return 0;
	sys_remove_tree(all, half + strlen(root) + 1);
	return err->kind ? -1 : 0;
}

/* A folder to mount it on. */
static int make_image(struct box *b, struct error *err)
{
	b->root = arena_printf(b->arena, "%s/" BOX_IMAGE "/" ROOT_IMAGE_AT, b->dir);
	if (!b->root)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	return mkdirat(b->dir_fd, BOX_IMAGE, 0711) < 0 || fchmodat(b->dir_fd, BOX_IMAGE, 0711, 0) < 0
		       ? error_sys(err, errno, "%s/" BOX_IMAGE, b->dir)
		       : 0;
}

int box_make_root(struct box *b, const char *root, struct error *err)
{
	char digest[SHA256_HEX];
	const char *roots, *path;

	if (b->plan->image)
		return make_image(b, err);
	if (places_digest(b->plan, digest) < 0)
		return make_own(b, err);
	roots = arena_printf(b->arena, "%s/" ROOTS, root);
	path = arena_printf(b->arena, "%s/" ROOTS "/%s", root, digest);
	if (!roots || !path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (use(b, path) == 0)
		return 0;
	if (mkdir(roots, geteuid() == 0 ? 0711 : 0700) < 0 && errno != EEXIST)
		return error_sys(err, errno, "%s", roots);
	if (make_shared(b, root, path, err) < 0)
		return -1;
	return use(b, path) == 0 ? 0 : make_own(b, err);
}

static void remove_unused(int roots, const char *name)
{
	AUTO_FD fd = openat(roots, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		sys_remove_tree(roots, name);
}

/* Whoever made it was killed at that, where nobody is making any. */
static void remove_half(int boxes, int roots, const char *name)
{
	if (flock(boxes, LOCK_EX | LOCK_NB) < 0)
		return;
	sys_remove_tree(roots, name);
	(void)flock(boxes, LOCK_UN);
}

void box_sweep_roots(const char *root)
{
	AUTO_FD boxes = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD roots = boxes < 0 ? -1 : openat(boxes, ROOTS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int copy = roots < 0 ? -1 : fcntl(roots, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		n++;
		if (strncmp(e->d_name, HALF, strlen(HALF)) == 0)
			remove_half(boxes, roots, e->d_name);
	}
	if (d && n > BOX_ROOTS_KEEP + 2)
		rewinddir(d);
	while (d && n > BOX_ROOTS_KEEP + 2 && (e = readdir(d)))
		if (e->d_name[0] != '.' && strncmp(e->d_name, HALF, strlen(HALF)) != 0)
			remove_unused(roots, e->d_name);
	if (d)
		(void)closedir(d);
}
