#include "supervise/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/copy_bytes.h"

enum { COPY_DEPTH = 512 };

struct copy {
	struct error *err;
	bool layer;
	struct copied *copied; /* NULL: nobody asks */
	char path[PATH_MAX];   /* of the folder at hand, below the top */
	size_t len;
};

static int fail(struct copy *c, const char *name)
{
	struct text_shown t;

	return error_sys(c->err, errno, "copy: %s", text_show(&t, sv_of(name)));
}

/* As long as it is now: one that grows as fast as it is copied would never end. */
static int copy_bytes(int from, int to)
{
	struct stat st;
	bool cloned;
	int r;

	if (fstat(from, &st) < 0)
		return -1;
	r = S_ISREG(st.st_mode) ? sys_copy_bytes(from, to, (uint64_t)st.st_size, &cloned) : -ESTALE;
	errno = -r;
	return r < 0 ? -1 : 0;
}

/* The workload may have taken away its own right to read what it made; it is ours as well. */
static int open_readable(const struct copy *c, int from, const char *name, const struct stat *st, int flags)
{
	int fd = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);

	if (fd < 0 && errno == EACCES && c->layer && fchmodat(from, name, (st->st_mode & 0777) | 0700, 0) == 0)
		fd = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
	return fd;
}

static int copy_file(struct copy *c, int from, int to, const char *name, const struct stat *st)
{
	AUTO_FD in = open_readable(c, from, name, st, O_NONBLOCK);
	AUTO_FD out = -1;
	struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (in < 0 && errno == EACCES)
		return 0; /* the sandbox could not have read it either */
	out = in < 0 ? -1 : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st->st_mode & 0777);
	if (out < 0 || copy_bytes(in, out) < 0 || fchmod(out, st->st_mode & 0777) < 0 || futimens(out, times) < 0)
		return fail(c, name);
	return 0;
}

static int copy_link(struct copy *c, int from, int to, const char *name)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return fail(c, name);
	text[n] = '\0';
	return symlinkat(text, to, name) < 0 ? fail(c, name) : 0;
}

/* Whiteouts are character devices 0:0, which anybody may make. Other devices cannot have been made. */
static int copy_special(struct copy *c, int to, const char *name, const struct stat *st)
{
	if (!c->layer || (S_ISCHR(st->st_mode) && st->st_rdev) || S_ISBLK(st->st_mode))
		return 0;
	return mknodat(to, name, (st->st_mode & S_IFMT) | (st->st_mode & 0777), 0) < 0 ? fail(c, name) : 0;
}

static int copy_opaque(struct copy *c, int from, int to, const char *name)
{
	char value[8];
	ssize_t n = c->layer ? fgetxattr(from, "user.overlay.opaque", value, sizeof(value)) : -1;

	return n > 0 && fsetxattr(to, "user.overlay.opaque", value, (size_t)n, 0) < 0 ? fail(c, name) : 0;
}

static int copy_folder(struct copy *c, int from, int to, const char *name, const struct stat *st, unsigned depth);

/* Notes a folder and enters it. Where its path is too long, it counts as one that was never copied. */
static int enter(struct copy *c, const char *name, const struct stat *st)
{
	size_t n = strlen(name);
	int r;

	if (!c->copied || c->len + n + 2 > sizeof(c->path))
		return 0;
	if (c->len)
		c->path[c->len++] = '/';
	memcpy(c->path + c->len, name, n + 1);
	c->len += n;
	r = copied_add(c->copied, c->path, st);
	errno = -r;
	return r < 0 ? fail(c, name) : 0;
}

static int copy_entry(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	size_t len = c->len;
	struct stat st;
	int r;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(c, name);
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name, &st);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name);
	if (!S_ISDIR(st.st_mode))
		return copy_special(c, to, name, &st);
	if (mkdirat(to, name, 0700) < 0)
		return fail(c, name);
	r = enter(c, name, &st) < 0 ? -1 : copy_folder(c, from, to, name, &st, depth + 1);
	c->len = len;
	c->path[len] = '\0';
	if (r < 0)
		return -1;
	return fchmodat(to, name, st.st_mode & 0777, 0) < 0 ? fail(c, name) : 0;
}

static int copy_entries(struct copy *c, DIR *d, int to, unsigned depth)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (copy_entry(c, dirfd(d), to, e->d_name, depth) < 0)
			return -1;
	}
	return 0;
}

static int copy_folder(struct copy *c, int from, int to, const char *name, const struct stat *st, unsigned depth)
{
	int in = open_readable(c, from, name, st, O_DIRECTORY), r;
	AUTO_FD out = -1;
	DIR *d;

	if (in < 0 && errno == EACCES)
		return 0;
	d = in < 0 || depth > COPY_DEPTH ? NULL : fdopendir(in);
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!d || out < 0) {
		if (in >= 0 && !d)
			(void)close(in);
		r = fail(c, name);
	} else {
		r = copy_opaque(c, dirfd(d), out, name);
		if (r == 0)
			r = copy_entries(c, d, out, depth);
	}
	if (d)
		(void)closedir(d);
	return r;
}

/* Takes `in` over. */
static int copy_top(struct copy *c, int in, int dir, const char *name)
{
	AUTO_FD out = -1;
	DIR *d = in < 0 ? NULL : fdopendir(in);
	int r;

	if (!d) {
		r = fail(c, name);
		if (in >= 0)
			(void)close(in);
		return r;
	}
	if (mkdirat(dir, name, 0700) < 0 || (out = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		r = fail(c, name);
	else
		r = copy_entries(c, d, out, 0);
	(void)closedir(d);
	return r;
}

int copy_tree(int from, int dir, const char *name, struct copied *copied, struct error *err)
{
	struct copy c = {.err = err, .copied = copied};

	return copy_top(&c, openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir, name);
}

int copy_name(int from, int dir, const char *name, struct error *err)
{
	struct copy c = {.err = err};

	return copy_entry(&c, from, dir, name, 0);
}

int copy_layer(int from, int dir, const char *name, struct error *err)
{
	struct copy c = {.err = err, .layer = true};

	return copy_top(&c, openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir, name);
}
