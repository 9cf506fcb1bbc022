#include "supervise/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "supervise/changes.h"
#include "supervise/changes_journal.h"
#include "supervise/hard_links.h"
#include "sys/copy_bytes.h"
#include "sys/names.h"
#include "sys/tree.h"

enum { COPY_DEPTH = 512, OVERFLOW_ID = 65534 /* as the kernel shows ids that are not mapped */ };

struct copy {
	struct error *err;
	bool layer;
	struct copied *copied; /* NULL: nobody asks */
	struct hard_links links;
	int out;	       /* the copy's top */
	bool give;	       /* to the owner of the copy, and what is others' to nobody */
	uid_t owner;
	struct stat top;       /* the folder that is copied */
	struct stat into;      /* the folder that the copy is made in */
	char path[PATH_MAX];   /* of the folder at hand, below the top, where links or names are kept */
	size_t len;
};

static int fail(struct copy *c, const char *name)
{
	struct text_shown t;

	return error_sys(c->err, errno, "copy: %s", text_show(&t, sv_of(name)));
}

/* As long as it is now: one that grows as fast as it is copied would never end. */
static int copy_bytes(int from, int to, const struct stat *st)
{
	bool cloned;
	int r = sys_copy_bytes(from, to, (uint64_t)st->st_size, &cloned);

	errno = -r;
	return r < 0 ? -1 : 0;
}

/* The workload may have taken away its own right to read what it made; it is ours as well. Whoever shows or applies the
 * copy has to read it, too: it keeps that right, and gets no other. */
static int open_readable(const struct copy *c, int from, const char *name, const struct stat *st, int flags)
{
	int fd = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
	AUTO_FD shut = fd < 0 && errno == EACCES && c->layer ? openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
	struct stat now;
	char path[64];

	if (shut < 0)
		return fd;
	/* by descriptor: a link of that name must not lead a change of mode elsewhere */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", shut);
	errno = EACCES;
	if (fstat(shut, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino && !S_ISLNK(now.st_mode) &&
	    chmod(path, (st->st_mode & 0777) | (S_ISDIR(st->st_mode) ? 0700 : 0400)) == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	return fd;
}

/* What stood there a moment ago went away, or is another thing by now. */
static bool is_gone(int code)
{
	return code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENXIO;
}

uid_t copy_others(uid_t owner)
{
	return owner == OVERFLOW_ID ? OVERFLOW_ID - 1 : OVERFLOW_ID;
}

bool copy_is_others(const struct stat *top, uid_t uid, gid_t gid)
{
	return uid != top->st_uid || gid != top->st_gid;
}

/* What the owner of the top may do with it where ids are mapped, which the kernel lets nobody change: as an owner's
 * rights, a group's or everybody's. */
static mode_t rights_of(const struct stat *top, const struct stat *st)
{
	mode_t rights = st->st_uid == top->st_uid   ? st->st_mode >> 6
			: st->st_gid == top->st_gid ? st->st_mode >> 3
						    : st->st_mode;

	return rights & 05;
}

bool copy_may_enter(const struct stat *top, const struct stat *folder)
{
	return !copy_is_others(top, folder->st_uid, folder->st_gid) || (rights_of(top, folder) & 01);
}

static bool is_others(const struct copy *c, const struct stat *st)
{
	return c->give && copy_is_others(&c->top, st->st_uid, st->st_gid);
}

/* Rights of a group that is only the workload's say what it may do with what is others'; writing is not among them. */
static mode_t shown_mode(const struct copy *c, const struct stat *st)
{
	if (!is_others(c, st))
		return st->st_mode & (S_ISDIR(st->st_mode) ? 01777 : 0777);
	return (st->st_mode & 0705) | rights_of(&c->top, st) << 3;
}

/* By descriptor, or by name where there can be none: nobody else reaches the copy yet. */
static int give(const struct copy *c, int at, const char *name, const struct stat *st)
{
	uid_t uid = is_others(c, st) ? copy_others(c->owner) : c->owner;

	return c->give ? fchownat(at, name, uid, c->owner, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) : 0;
}

/* What the workload could not read has no bytes in its copy. */
static bool may_read(const struct copy *c, const struct stat *st)
{
	return !is_others(c, st) || (rights_of(&c->top, st) & 04);
}

/* In copies of a work folder, and in what an overlay holds of one. */
static bool keeps_links(const struct copy *c)
{
	return c->copied || c->layer;
}

/* The path of a name in the folder at hand; NULL: too long. */
static const char *path_of(const struct copy *c, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s%s%s", c->path, c->len ? "/" : "", name) < PATH_MAX ? path : NULL;
}

/* Another name of a file that was copied. */
static bool link_copied(const struct copy *c, const struct stat *st, int to, const char *name)
{
	const struct hard_link *l =
		keeps_links(c) && st->st_nlink > 1 ? hard_links_find(&c->links, st->st_dev, st->st_ino) : NULL;
	const char *last = NULL;
	AUTO_FD dir = l ? open_parent(c->out, l->path, &last) : -1;
	struct stat made;

	/* where a path is too long for us, another may stand */
	return dir >= 0 && fstatat(dir, last, &made, AT_SYMLINK_NOFOLLOW) == 0 && made.st_ino == l->made &&
	       linkat(dir, last, to, name, 0) == 0;
}

static int remember_link(struct copy *c, const struct stat *st, int out, const char *name)
{
	char path[PATH_MAX];
	struct stat made;

	if (!keeps_links(c) || st->st_nlink < 2 || fstat(out, &made) < 0 || !path_of(c, name, path))
		return 0;
	errno = -hard_links_add(&c->links, st->st_dev, st->st_ino, path, made.st_ino, NULL);
	return errno ? -1 : 0;
}

static int copy_file(struct copy *c, int from, int to, const char *name, const struct stat *st)
{
	AUTO_FD in = open_readable(c, from, name, st, O_NONBLOCK | O_NOCTTY);
	AUTO_FD out = -1;
	struct timespec times[2];
	struct stat now;

	if (in < 0 && (errno == EACCES || is_gone(errno)))
		return 0; /* what is there the sandbox could not have read either */
	if (in < 0 || fstat(in, &now) < 0)
		return fail(c, name);
	if (!S_ISREG(now.st_mode))
		return 0;
	if (link_copied(c, &now, to, name))
		return 0;
	times[0] = now.st_atim;
	times[1] = now.st_mtim;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0 || (may_read(c, &now) && copy_bytes(in, out, &now) < 0) || give(c, out, "", &now) < 0 ||
	    fchmod(out, shown_mode(c, &now)) < 0)
		return fail(c, name);
	(void)futimens(out, times); /* see copy.h */
	if (remember_link(c, &now, out, name) < 0)
		return fail(c, name);
	return 0;
}

static int copy_link(struct copy *c, int from, int to, const char *name, const struct stat *st)
{
	struct timespec times[2] = {st->st_atim, st->st_mtim};
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return errno == EINVAL || is_gone(errno) ? 0 : fail(c, name);
	text[n] = '\0';
	if (symlinkat(text, to, name) < 0 || give(c, to, name, st) < 0)
		return fail(c, name);
	(void)utimensat(to, name, times, AT_SYMLINK_NOFOLLOW);
	return 0;
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

/* False: nobody asks for paths, or it is too long. */
static bool append_name(struct copy *c, const char *name)
{
	size_t n = strlen(name);

	if (!keeps_links(c) || c->len + n + 2 > sizeof(c->path))
		return false;
	if (c->len)
		c->path[c->len++] = '/';
	memcpy(c->path + c->len, name, n + 1);
	c->len += n;
	return true;
}

/* Notes what is no folder, be it copied or not. */
static int note_name(struct copy *c, const char *name)
{
	size_t len = c->len;
	int r = c->copied && append_name(c, name) ? copied_name(c->copied, c->path) : 0;

	c->len = len;
	c->path[len] = '\0';
	errno = -r;
	return r < 0 ? fail(c, name) : 0;
}

/* Notes a folder and enters it. Where its path is too long, it counts as one that was never copied. */
static int enter(struct copy *c, const char *name, const struct sys_facts *host, int out)
{
	struct stat copy;
	int r;

	if (!append_name(c, name) || !c->copied)
		return 0;
	if (fstat(out, &copy) < 0)
		return fail(c, name);
	r = copied_add(c->copied, c->path, host, c->top.st_dev, copy.st_ino);
	errno = -r;
	return r < 0 ? fail(c, name) : 0;
}

static int copy_folder(struct copy *c, int from, int to, const char *name, const struct stat *st, unsigned depth);

static int copy_entry(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(c, name);
	if (!S_ISDIR(st.st_mode) && note_name(c, name) < 0)
		return -1;
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name, &st);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name, &st);
	if (S_ISDIR(st.st_mode))
		return copy_folder(c, from, to, name, &st, depth + 1);
	return copy_special(c, to, name, &st);
}

static bool is_left_over(const struct copy *c, const char *name, unsigned depth)
{
	return c->copied && depth == 0 && strncmp(name, CHANGES_STAGING, strlen(CHANGES_STAGING)) == 0;
}

/* Takes `from` over. */
static int copy_entries(struct copy *c, int from, int to, const char *name, unsigned depth)
{
	DIR *d = fdopendir(from);
	struct dirent *e;
	int r = 0, more = 0;

	if (!d) {
		r = fail(c, name);
		(void)close(from);
		return r;
	}
	while (r == 0 && (more = sys_next_name(d, &e)) > 0)
		if (!is_left_over(c, e->d_name, depth))
			r = copy_entry(c, dirfd(d), to, e->d_name, depth);
	if (more < 0) {
		errno = -more;
		r = fail(c, name);
	}
	(void)closedir(d);
	return r;
}

/* What it is, is said by the one that was opened: at its name another may stand by then. */
static int copy_folder(struct copy *c, int from, int to, const char *name, const struct stat *st, unsigned depth)
{
	AUTO_FD in = open_readable(c, from, name, st, O_DIRECTORY);
	AUTO_FD out = -1;
	bool closed = in < 0 && errno == EACCES;
	/* a layer is looked at by changes_scan() only, which refuses such a folder and does not enter it */
	bool entered = !closed && !(c->layer && depth > CHANGES_DEPTH);
	struct sys_facts is = {0};
	struct timespec times[2];
	struct stat now = *st;
	size_t len = c->len;
	int r;

	if (in < 0 && is_gone(errno))
		return 0;
	/* a home holds the runs' folders, and a copy of the copy would have no end */
	if (in >= 0 && fstat(in, &now) == 0 && now.st_ino == c->into.st_ino && now.st_dev == c->into.st_dev)
		return 0;
	if (depth > COPY_DEPTH)
		errno = ELOOP;
	if (depth > COPY_DEPTH || (in < 0 && !closed) || (in >= 0 && fstat(in, &now) < 0) ||
	    mkdirat(to, name, 0700) < 0)
		return fail(c, name);
	entered = entered && (!c->give || copy_may_enter(&c->top, &now));
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = out < 0 || copied_look(closed ? from : in, closed ? name : "", &is) < 0 ? fail(c, name)
										    : enter(c, name, &is, out);
	if (r == 0 && entered)
		r = copy_opaque(c, in, out, name);
	if (r == 0 && entered)
		r = copy_entries(c, fd_take(&in), out, name, depth);
	c->len = len;
	c->path[len] = '\0';
	if (r < 0)
		return -1;
	times[0] = now.st_atim;
	times[1] = now.st_mtim;
	if (give(c, out, "", &now) < 0 || fchmod(out, shown_mode(c, &now)) < 0)
		return fail(c, name);
	(void)futimens(out, times);
	return 0;
}

static int copy_top(struct copy *c, int from, int dir, const char *name)
{
	AUTO_FD in = c->layer ? sys_open_again(from) : openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD out = -1;
	int r;

	if (in < 0 || fstat(in, &c->top) < 0 || fstat(dir, &c->into) < 0 || mkdirat(dir, name, 0700) < 0)
		return fail(c, name);
	out = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	c->out = out;
	r = out < 0 || give(c, out, "", &c->top) < 0 ? fail(c, name) : copy_entries(c, fd_take(&in), out, name, 0);
	hard_links_done(&c->links);
	return r;
}

int copy_tree(int from, int dir, const char *name, struct copied *copied, struct error *err)
{
	struct copy c = {.err = err, .copied = copied};

	if (copy_top(&c, from, dir, name) < 0)
		return -1;
	if (copied)
		copied_stands(copied);
	return 0;
}

int copy_given(int from, int dir, const char *name, uid_t owner, struct copied *copied, struct error *err)
{
	struct copy c = {.err = err, .copied = copied, .give = geteuid() == 0, .owner = owner};

	if (copy_top(&c, from, dir, name) < 0)
		return -1;
	copied_stands(copied);
	return 0;
}

int copy_kept(int from, int dir, const char *name, struct error *err)
{
	struct copied copied = {0};
	int stored, r = copy_given(from, dir, name, geteuid(), &copied, err);

	stored = r < 0 ? 0 : copied_store(&copied, dir);
	if (stored < 0)
		r = error_sys(err, stored, "what %s was made of", name);
	copied_settle(&copied);
	copied_done(&copied);
	return r;
}

int copy_name(int from, int dir, const char *name, struct error *err)
{
	struct copy c = {.err = err};

	if (fstat(dir, &c.into) < 0)
		return fail(&c, name);
	return copy_entry(&c, from, dir, name, 0);
}

int copy_layer(int from, int dir, const char *name, struct error *err)
{
	struct copy c = {.err = err, .layer = true};

	return copy_top(&c, from, dir, name);
}
