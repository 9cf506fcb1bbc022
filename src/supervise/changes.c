#include "supervise/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/git_state.h"
#include "supervise/changes_judge.h"
#include "supervise/changes_names.h"
#include "supervise/copy.h"
#include "sys/names.h"
#include "sys/stamp.h"

const char *const change_kind_names[] = {"added", "modified", "deleted", "type changed", "mode changed", NULL};
const char *const change_type_names[] = {"nothing", "file", "folder", "link", "special file", NULL};

struct scan {
	const struct changes_rules *rules;
	enum changes_kind kind;
	struct changes *list;
	size_t cap;
	size_t budget; /* names that may still be read */
	dev_t dev;     /* of lower */
	dev_t copy;    /* of upper */
	struct stat top; /* lower */
	uid_t others;  /* who owns in a copy of root's what is somebody else's */
	char path[PATH_MAX + NAME_MAX + 2];
	size_t len;
	/* Not on the stack of functions that the compiler may inline into the recursion. */
	char target[PATH_MAX];
	char block[2][16384];
	struct error *err;
};

/* One folder of the merged view. */
struct level {
	int upper;       /* -1: the view has no such folder */
	int lower;       /* -1: the host has no such folder */
	bool through;    /* names that upper lacks show through from lower */
	bool xwhiteouts; /* empty files with an attribute may be whiteouts */
	bool foreign;    /* lower is another file system than the work folder */
	bool made;       /* upper is the folder of the copy that was made at this path */
	bool names_kept; /* ... and no name came or went there since */
	bool strange;    /* lower is not the folder that was copied */
	bool others;     /* lower is somebody else's, where no name may come or go */
	unsigned depth;
};

enum { LOOK_TRIES = 16 };

static const char UNREADABLE[] = "cannot be read";
static const char TOO_LONG[] = "has too long a path";
static const char MOVING[] = "changed while it was looked at";
static const char OTHERS[] = "belongs to somebody else";
static const char IN_OTHERS[] = "is in a folder that belongs to somebody else";

static enum change_type type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return CHANGE_FILE;
	case S_IFDIR:
		return CHANGE_FOLDER;
	case S_IFLNK:
		return CHANGE_LINK;
	default:
		return CHANGE_SPECIAL;
	}
}

static int out_of_memory(struct scan *s)
{
	return error_sys(s->err, ENOMEM, "list of changes");
}

static int fail_at(struct scan *s, int code, const char *what)
{
	struct text_shown shown;

	if (code == -E2BIG)
		return error_set(s->err, ERROR_DENIED,
				 "more than %zu files are involved; that is more than can be looked through",
				 s->rules->max_entries ? s->rules->max_entries : (size_t)CHANGES_ENTRIES);
	return error_sys(s->err, code, "%s %s", what, text_show(&shown, s->len ? sv_n(s->path, s->len) : sv_of(".")));
}

/* Only folders are asked: on some file systems each file has a device number of its own. */
static bool on_other_device(const struct scan *s, const struct change_side *before)
{
	return before->type == CHANGE_FOLDER && before->dev != s->dev;
}

/* As root: what native sandboxes keep by id-mapped mounts. */
static bool is_others(const struct scan *s, const struct change_side *side)
{
	return geteuid() == 0 && side->type != CHANGE_NONE && copy_is_others(&s->top, side->uid, side->gid);
}

/* An ordinary user may replace others' files in folders of his own, but neither change their mode nor move a folder
 * that he may not write to. */
static bool is_kept_from_us(const struct level *l, const char *name, const struct change *c)
{
	if (geteuid() == 0 || c->before.type == CHANGE_NONE || c->before.uid == geteuid())
		return false;
	if (c->kind == CHANGE_MODE)
		return true;
	return c->before.type == CHANGE_FOLDER &&
	       faccessat(l->lower, name, W_OK | X_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) < 0;
}

static const char *why_others(const struct scan *s, const struct level *l, const struct change *c)
{
	const char *slash;

	if (is_others(s, &c->before) ||
	    (s->kind == CHANGES_COPY && geteuid() == 0 && c->after.type != CHANGE_NONE && c->after.uid == s->others))
		return OTHERS;
	if (l->others && (geteuid() != 0 || (c->kind != CHANGE_MODIFIED && c->kind != CHANGE_MODE)))
		return IN_OTHERS;
	slash = strrchr(c->path, '/');
	return is_kept_from_us(l, slash ? slash + 1 : c->path, c) ? OTHERS : NULL;
}

static int add(struct scan *s, const struct level *l, struct change *c)
{
	size_t cap = s->cap ? s->cap * 2 : 64;
	struct change *v;

	if (s->list->n == s->cap) {
		v = reallocarray(s->list->v, cap, sizeof(*v));
		if (!v)
			return out_of_memory(s);
		s->list->v = v;
		s->cap = cap;
	}
	c->path = arena_str(s->list->arena, sv_n(s->path, s->len));
	if (!c->path)
		return out_of_memory(s);
	if (!c->refused && (l->foreign || on_other_device(s, &c->before)))
		c->refused = "is on another file system";
	if (!c->refused)
		c->refused = why_others(s, l, c);
	s->list->v[s->list->n++] = *c;
	return 0;
}

static void describe(struct change_side *side, const struct stat *st)
{
	*side = (struct change_side){
		.type = type_of(st->st_mode),
		.mode = st->st_mode & 07777,
		.size = S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ? (uint64_t)st->st_size : 0,
		.target = side->target,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.names = st->st_nlink,
		.mtime = st->st_mtim,
		.ctime = st->st_ctim,
	};
}

static int look_once(struct scan *s, int fd, const char *name, struct change_side *ret, struct stat *st)
{
	ssize_t n;

	*ret = (struct change_side){0};
	*st = (struct stat){0};
	if (fd < 0)
		return 0;
	if (fstatat(fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	describe(ret, st);
	if (ret->type != CHANGE_LINK)
		return 0;
	n = readlinkat(fd, name, s->target, sizeof(s->target));
	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? -ESTALE : -errno;
	ret->target = arena_str(s->list->arena, sv_n(s->target, (size_t)n));
	return ret->target ? 0 : -ENOMEM;
}

/* What is at name, without following it. type CHANGE_NONE: nothing. 0 or -errno. */
static int look(struct scan *s, int fd, const char *name, struct change_side *ret, struct stat *st)
{
	int r, tries = LOOK_TRIES;

	do
		r = look_once(s, fd, name, ret, st);
	while (r == -ESTALE && --tries);
	return r;
}

/* Opens the file or folder that was looked at. -ESTALE: another one is there by now. */
static int open_seen(int dirfd, const char *name, const struct change_side *seen)
{
	int flags = seen->type == CHANGE_FOLDER ? O_DIRECTORY : O_NONBLOCK | O_NOCTTY;
	AUTO_FD fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
	struct stat st;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ESTALE;
	if (fstat(fd, &st) < 0 || st.st_ino != seen->ino || st.st_dev != seen->dev || type_of(st.st_mode) != seen->type)
		return -ESTALE;
	if (seen->type == CHANGE_FOLDER && faccessat(fd, ".", R_OK | X_OK, AT_EACCESS) < 0)
		return -EACCES;
	return fd_take(&fd);
}

/* 1: the attribute is there (and has this value, where one is given); 0: it is not. -errno. */
static int has_attribute(int fd, const char *name, const char *value)
{
	char got[8];
	ssize_t n = fgetxattr(fd, name, got, sizeof(got));

	if (n < 0 && errno == ERANGE)
		return value == NULL;
	if (n < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
	return !value || ((size_t)n == strlen(value) && memcmp(got, value, (size_t)n) == 0);
}

/* The mount follows neither, so what carries them shows something else than it holds. */
static int is_forged(int fd)
{
	int r = has_attribute(fd, "user.overlay.redirect", NULL);

	return r ? r : has_attribute(fd, "user.overlay.metacopy", NULL);
}

static int is_whiteout(const struct scan *s, const struct level *l, const char *name, const struct change_side *side,
		       const struct stat *st)
{
	AUTO_FD fd = -1;

	if (s->kind != CHANGES_OVERLAY)
		return 0;
	if (S_ISCHR(st->st_mode))
		return st->st_rdev == makedev(0, 0);
	if (!l->xwhiteouts || side->type != CHANGE_FILE || side->size != 0)
		return 0;
	fd = open_seen(l->upper, name, side);
	return fd < 0 ? 0 : has_attribute(fd, "user.overlay.whiteout", NULL) == 1;
}

/* False also where it cannot be told. */
static bool same_bytes(struct scan *s, int a, int b)
{
	ssize_t n, m;
	off_t at = 0;

	for (;; at += n) {
		n = pread(a, s->block[0], sizeof(s->block[0]), at);
		m = n < 0 ? -1 : pread(b, s->block[1], sizeof(s->block[1]), at);
		if (n < 0 || m != n || memcmp(s->block[0], s->block[1], (size_t)n) != 0)
			return false;
		if (n == 0)
			return true;
	}
}

/* The file was made after the run started: no copy can have held it. */
static bool born_since(const struct scan *s, int fd, const char *name)
{
	struct sys_facts is;

	if (s->rules->started.tv_sec == 0 || sys_facts_at(fd, name, &is) < 0 || is.born.tv_sec == 0)
		return false;
	return sys_stamp_later(is.born, s->rules->started);
}

/* Missing from a copy that never had it. */
static bool never_copied(struct scan *s, const struct level *l, const char *name, const struct change_side *before)
{
	const char *path;
	size_t i;

	if (s->kind != CHANGES_COPY || l->upper < 0)
		return false;
	if (before->type == CHANGE_SPECIAL || l->names_kept || born_since(s, l->lower, name))
		return true;
	if (before->type == CHANGE_FILE && faccessat(l->lower, name, R_OK, AT_EACCESS) < 0)
		return true;
	path = changes_full_path(s->list->arena, s->rules, s->path);
	if (path && changes_is_hidden(s->rules, path))
		return true;
	for (i = 0; path && i < s->rules->n_deny; i++)
		if (glob_hit(&s->rules->deny[i], sv_of(path)))
			return true;
	return false;
}

static int walk(struct scan *s, const struct level *l);

/* Then nothing below is looked at: there is room for one more name, and no call would take the path. */
static bool is_too_long(const struct scan *s)
{
	return s->len >= PATH_MAX - 1;
}

/* One in which we may make no names; we open those of our own. */
static bool is_others_folder(const struct scan *s, const struct change_side *side, int fd)
{
	if (fd < 0)
		return false;
	return geteuid() == 0 ? is_others(s, side)
			      : side->uid != geteuid() && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) < 0;
}

/* Everything below a folder of lower that is a folder no more. */
static int walk_gone(struct scan *s, const struct level *l, const struct change *c, int lower)
{
	struct level below = {.upper = -1, .lower = lower, .depth = l->depth + 1};

	below.foreign = l->foreign || on_other_device(s, &c->before);
	below.others = is_others_folder(s, &c->before, lower);
	return walk(s, &below);
}

static const char *why_unopened(int fd)
{
	return fd == -EACCES ? UNREADABLE : MOVING;
}

/* Opens the lower folder at name, where it is one. -1 with c->refused set where that is not possible. */
static int open_lower(const struct scan *s, const struct level *l, const char *name, struct change *c)
{
	int fd = -1;

	if (c->before.type != CHANGE_FOLDER)
		return -1;
	if (l->depth >= CHANGES_DEPTH || is_too_long(s)) {
		c->refused = l->depth >= CHANGES_DEPTH ? "is nested too deep" : TOO_LONG;
		return -1;
	}
	fd = open_seen(l->lower, name, &c->before);
	if (fd < 0)
		c->refused = why_unopened(fd);
	return fd < 0 ? -1 : fd;
}

static int visit_gone(struct scan *s, const struct level *l, const char *name, struct change *c)
{
	AUTO_FD lower = -1;

	if (c->before.type == CHANGE_NONE || never_copied(s, l, name, &c->before))
		return 0;
	c->kind = CHANGE_DELETED;
	lower = open_lower(s, l, name, c);
	if (add(s, l, c) < 0)
		return -1;
	return lower < 0 ? 0 : walk_gone(s, l, c, lower);
}

/* A copy has no special bits from the start. */
static bool same_mode(const struct scan *s, const struct change *c)
{
	return c->before.mode == c->after.mode || is_others(s, &c->before) ||
	       (s->kind == CHANGES_COPY && (c->before.mode & 0777) == c->after.mode);
}

/* What git would run a program for at its next --continue: a rebase that the run left, or made up. */
static bool is_order_to_git(struct scan *s, const struct change *c, int upper)
{
	struct sv path = sv_n(s->path, s->len);
	AUTO_BUF b = {0};

	if (c->after.type != CHANGE_FILE || !git_state_is(path))
		return c->after.type == CHANGE_LINK && git_state_is_place(path);
	buf_init(&b, GIT_STATE_MAX);
	return buf_read_fd(&b, upper) < 0 || git_state_runs(path, buf_view(&b));
}

/* A file or link or special file in the view; what was there before may be anything. */
static int visit_leaf(struct scan *s, const struct level *l, const char *name, struct change *c)
{
	bool differs = c->kind != CHANGE_MODE;
	AUTO_FD upper = -1;
	AUTO_FD lower = -1;

	if (c->after.type == CHANGE_FILE) {
		upper = open_seen(l->upper, name, &c->after);
		if (upper < 0)
			c->refused = why_unopened(upper);
		else if (s->kind == CHANGES_OVERLAY && is_forged(upper) != 0)
			c->refused = "carries a forged overlay attribute";
	}
	if (!differs && c->after.type == CHANGE_FILE) {
		lower = open_seen(l->lower, name, &c->before);
		differs = c->refused || c->before.size != c->after.size || lower < 0 || !same_bytes(s, upper, lower);
	} else if (!differs && c->after.type == CHANGE_LINK) {
		differs = strcmp(c->before.target, c->after.target) != 0;
	} else if (!differs) {
		differs = true; /* special on both sides: nothing that could be compared or applied */
	}
	if (differs && c->kind == CHANGE_MODE)
		c->kind = CHANGE_MODIFIED;
	if (!differs && (c->after.type == CHANGE_LINK || same_mode(s, c)))
		return 0;
	if (differs && !c->refused && is_order_to_git(s, c, upper))
		c->refused = "would have git run a program at its next --continue";
	if (c->before.type == CHANGE_FOLDER)
		lower = open_lower(s, l, name, c);
	if (add(s, l, c) < 0)
		return -1;
	return c->before.type == CHANGE_FOLDER && lower >= 0 ? walk_gone(s, l, c, lower) : 0;
}

/* Reads the overlay's attributes of an upper folder into the level below it. Returns why it is refused, or NULL. */
static const char *read_folder(const struct scan *s, const struct level *l, int upper, struct level *below)
{
	int opaque, xwhiteouts;

	below->upper = upper;
	below->through = l->through;
	if (s->kind != CHANGES_OVERLAY)
		return NULL;
	opaque = has_attribute(upper, "user.overlay.opaque", "y");
	xwhiteouts = has_attribute(upper, "user.overlay.opaque", "x");
	if (opaque < 0 || xwhiteouts < 0)
		return UNREADABLE;
	if (is_forged(upper) != 0)
		return "carries a forged overlay attribute";
	below->through = l->through && !opaque;
	below->xwhiteouts = xwhiteouts;
	return NULL;
}

/* Is the thing of the copy the very one that was put there, and has not changed since? Of a folder: but for what is in
 * it. */
static bool is_as_copied(const struct scan *s, const struct level *l, const struct change_side *after)
{
	struct copied *copied = s->rules->copied;

	if (s->kind != CHANGES_COPY || !copied || !copied->stands.tv_sec || !l->made)
		return false;
	if (after->type == CHANGE_FOLDER)
		return after->dev == s->copy && copied_made(copied, s->path, after->ino);
	return after->type != CHANGE_NONE && copied_before(copied, after->ctime);
}

/*
 * A folder that was not there, or was another one, when the copy was made. Where nobody says which there were, one that
 * is missing in the copy and has changed since may have been moved here: that changes nothing but its own ctime.
 */
static bool is_strange(const struct scan *s, const struct level *l, const char *name, const struct change *c)
{
	const struct changes_rules *r = s->rules;
	struct sys_facts is;

	if (s->kind != CHANGES_COPY || c->before.type != CHANGE_FOLDER)
		return false;
	if (r->copied)
		return copied_look(l->lower, name, &is) < 0 || is.inode != c->before.ino ||
		       !copied_has(r->copied, s->path, &is, s->dev);
	return c->after.type == CHANGE_NONE && r->started.tv_sec && sys_stamp_later(c->before.ctime, r->started);
}

/* A folder that could not be read is empty in a copy. */
static bool is_unread_copy(const struct scan *s, const struct change *c, int upper)
{
	AUTO_NAMES names = {0};
	size_t budget = 1;

	return s->kind == CHANGES_COPY && c->refused == UNREADABLE && upper >= 0 &&
	       names_read(&names, upper, &budget) == 0 && names.n == 0;
}

static int visit_folder(struct scan *s, const struct level *l, const char *name, struct change *c)
{
	struct level below = {.upper = -1, .lower = -1, .depth = l->depth + 1};
	AUTO_FD upper = -1;
	AUTO_FD lower = -1;
	bool differs = c->kind != CHANGE_MODE;
	const char *refused;

	/* The special bits of the host's folders stay as they are, and no run opens one to other users: what they could
	 * do in there no policy says. */
	c->after.mode &= c->before.type == CHANGE_FOLDER ? 0777 : 01777;
	if (c->before.type == CHANGE_FOLDER)
		c->after.mode = is_others(s, &c->before)
					? c->before.mode
					: (c->after.mode & (0700 | c->before.mode)) | (c->before.mode & 07000);
	differs = differs || c->before.mode != c->after.mode;
	upper = open_seen(l->upper, name, &c->after);
	if (l->depth >= CHANGES_DEPTH)
		c->refused = "is nested too deep";
	else if (upper < 0)
		c->refused = why_unopened(upper);
	else
		c->refused = read_folder(s, l, upper, &below);
	if (!c->refused)
		lower = open_lower(s, l, name, c);
	if (is_unread_copy(s, c, upper))
		return 0;
	if (c->refused && c->kind == CHANGE_MODE)
		c->kind = CHANGE_MODIFIED;
	refused = c->refused;
	if ((differs || refused) && add(s, l, c) < 0)
		return -1;
	if (refused)
		return 0;
	below.lower = lower;
	below.foreign = l->foreign || on_other_device(s, &c->before);
	below.made = is_as_copied(s, l, &c->after);
	below.names_kept = below.made && copied_before(s->rules->copied, c->after.ctime);
	below.strange = l->strange || is_strange(s, l, name, c);
	below.others = is_others_folder(s, &c->before, lower);
	return walk(s, &below);
}

static int is_touched_below(struct scan *s, int fd, unsigned depth);

static int is_touched_name(struct scan *s, int fd, const char *name, unsigned depth)
{
	struct level here = {.made = true};
	struct change_side side;
	struct stat st;
	AUTO_FD below = -1;
	int r = look(s, fd, name, &side, &st);

	if (r < 0)
		return r;
	if (side.type == CHANGE_NONE || !is_as_copied(s, &here, &side))
		return side.type != CHANGE_NONE;
	if (side.type != CHANGE_FOLDER)
		return 0;
	below = open_seen(fd, name, &side);
	return below < 0 || depth >= CHANGES_DEPTH ? 1 : is_touched_below(s, below, depth + 1);
}

/* Did the run make or change anything below the folder at s->path? 1, 0 or -errno. What it removed there is not looked
 * for. */
static int is_touched_below(struct scan *s, int fd, unsigned depth)
{
	size_t len = s->len, i;
	AUTO_NAMES names = {0};
	int r = names_read(&names, fd, &s->budget);

	for (i = 0; r == 0 && i < names.n; i++) {
		s->len = len + (size_t)snprintf(s->path + len, sizeof(s->path) - len, "/%s", names.v[i]);
		r = s->len >= PATH_MAX ? 1 : is_touched_name(s, fd, names.v[i], depth);
		s->len = len;
		s->path[len] = '\0';
	}
	return r;
}

/* Host and copy differ because the host changed something, and the run did nothing to it: that is no change of the
 * run's. */
static bool is_hosts_own(struct scan *s, const struct level *l, const char *name, const struct change *c, bool strange)
{
	AUTO_FD upper = -1;

	if (!is_as_copied(s, l, &c->after))
		return false;
	if (c->after.type != CHANGE_FOLDER)
		return l->strange || c->before.type != c->after.type ||
		       sys_stamp_later(c->before.ctime, s->rules->started);
	if (c->before.type == CHANGE_FOLDER && !strange)
		return false;
	upper = open_seen(l->upper, name, &c->after);
	/* what is said of those that cannot be read is said later */
	return upper >= 0 && l->depth < CHANGES_DEPTH && is_touched_below(s, upper, l->depth) == 0;
}

static enum change_kind kind_of(const struct change *c)
{
	if (c->after.type == CHANGE_NONE)
		return CHANGE_DELETED;
	if (c->before.type == CHANGE_NONE)
		return CHANGE_ADDED;
	return c->before.type != c->after.type ? CHANGE_TYPE : CHANGE_MODIFIED;
}

/* Not the run's to change any more: left alone, and not entered. */
static int visit_strange(struct scan *s, const struct level *l, struct change *c)
{
	if (c->after.type == CHANGE_NONE && l->upper >= 0)
		return 0;
	c->kind = kind_of(c);
	c->refused = changes_meanwhile;
	return add(s, l, c);
}

/* Of what is somebody else's a copy has what its user could read, and no other rights. */
static bool is_as_shown(const struct scan *s, const struct level *l, const struct change *c)
{
	const struct stat folder = {.st_uid = c->before.uid, .st_gid = c->before.gid, .st_mode = c->before.mode};

	if (s->kind != CHANGES_COPY || c->before.type != c->after.type || !is_others(s, &c->before))
		return false;
	return c->before.type == CHANGE_FOLDER ? c->after.uid == s->others && !copy_may_enter(&s->top, &folder)
					       : is_as_copied(s, l, &c->after);
}

/* The host's side is not what was copied: strangers stand there, or the folder is gone in which the run worked. */
static bool is_lost(const struct scan *s, const struct level *l, const struct change *c, bool strange)
{
	return !s->rules->force && (strange || (c->before.type != CHANGE_FOLDER && c->after.type == CHANGE_FOLDER &&
						is_as_copied(s, l, &c->after)));
}

static int visit(struct scan *s, const struct level *l, const char *name)
{
	struct change c = {0};
	struct stat st;
	bool reserved = l->depth == 0 && strncmp(name, CHANGES_STAGING, strlen(CHANGES_STAGING)) == 0;
	bool hidden, strange;
	int r;

	r = look(s, l->lower, name, &c.before, &st);
	if (r == 0)
		r = look(s, l->upper, name, &c.after, &st);
	if (r < 0)
		return fail_at(s, r, "look at");
	hidden = is_whiteout(s, l, name, &c.after, &st) == 1;
	if (hidden)
		c.after = (struct change_side){0};
	strange = is_strange(s, l, name, &c);
	if (!reserved && (is_as_shown(s, l, &c) || is_hosts_own(s, l, name, &c, strange)))
		return 0;
	if (!reserved && is_lost(s, l, &c, strange))
		return visit_strange(s, l, &c);
	if (c.after.type == CHANGE_NONE) {
		/* Listed a moment ago, but gone by now. */
		if (l->through && !hidden)
			return 0;
		return reserved ? 0 : visit_gone(s, l, name, &c);
	}
	c.kind = c.before.type == CHANGE_NONE    ? CHANGE_ADDED
		 : c.before.type != c.after.type ? CHANGE_TYPE
						 : CHANGE_MODE;
	if (reserved || is_too_long(s)) {
		c.refused = reserved ? "has a name that only Cordon may use" : TOO_LONG;
		return add(s, l, &c);
	}
	if (c.after.type == CHANGE_FOLDER)
		return visit_folder(s, l, name, &c);
	return visit_leaf(s, l, name, &c);
}

static int walk(struct scan *s, const struct level *l)
{
	size_t len = s->len, i;
	AUTO_NAMES names = {0};
	int r = 0;

	if (l->upper >= 0)
		r = names_read(&names, l->upper, &s->budget);
	if (r == 0 && l->lower >= 0 && !l->through)
		r = names_read(&names, l->lower, &s->budget);
	if (r < 0)
		return fail_at(s, r, "list");
	names_sort(&names);
	for (i = 0; i < names.n; i++) {
		s->len = len +
			 (size_t)snprintf(s->path + len, sizeof(s->path) - len, "%s%s", len ? "/" : "", names.v[i]);
		if (visit(s, l, names.v[i]) < 0)
			return -1;
		s->len = len;
		s->path[len] = '\0';
	}
	return 0;
}

static int scan_root(struct scan *s, int lower_fd, int upper_fd)
{
	struct level top = {.upper = upper_fd, .lower = lower_fd, .through = s->kind == CHANGES_OVERLAY};
	const struct copied *copied = s->kind == CHANGES_COPY ? s->rules->copied : NULL;
	struct stat st;

	top.made = copied && copied->stands.tv_sec;
	if (fstat(upper_fd, &st) < 0)
		return error_sys(s->err, errno, "look at what the run left");
	s->copy = st.st_dev;
	s->others = copy_others(st.st_uid);
	top.names_kept = top.made && copied_before(copied, st.st_ctim);
	if (fstat(lower_fd, &s->top) < 0)
		return error_sys(s->err, errno, "look at the work folder");
	s->dev = s->top.st_dev;
	top.others =
		geteuid() != 0 && s->top.st_uid != geteuid() && faccessat(lower_fd, ".", W_OK | X_OK, AT_EACCESS) < 0;
	if (s->kind == CHANGES_OVERLAY)
		top.xwhiteouts = has_attribute(upper_fd, "user.overlay.opaque", "x") == 1;
	return walk(s, &top);
}

int changes_scan(int lower_fd, int upper_fd, enum changes_kind kind, const struct changes_rules *rules,
		 struct changes **ret, struct error *err)
{
	struct scan s = {.rules = rules, .kind = kind, .err = err};

	s.budget = rules->max_entries ? rules->max_entries : CHANGES_ENTRIES;
	s.list = calloc(1, sizeof(*s.list));
	if (!s.list)
		return out_of_memory(&s);
	s.list->arena = arena_new();
	s.list->root = s.list->arena ? arena_str(s.list->arena, sv_of(rules->root)) : NULL;
	if (!s.list->root || scan_root(&s, lower_fd, upper_fd) < 0 ||
	    changes_judge(s.list, lower_fd, rules, err) < 0) {
		if (!s.list->root)
			(void)out_of_memory(&s);
		changes_free(s.list);
		return -1;
	}
	*ret = s.list;
	return 0;
}

void changes_free(struct changes *c)
{
	if (!c)
		return;
	free(c->v);
	arena_free(c->arena);
	free(c);
}

/* As strcmp(), with '/' before every other byte. */
static int compare_paths(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	if (*a == *b)
		return 0;
	if (*a == '/' || *b == '/')
		return *a == '\0' || (*a == '/' && *b != '\0') ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

const struct change *changes_find(const struct changes *c, const char *path)
{
	size_t lo = 0, hi = c->n, mid;
	int r;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		r = compare_paths(path, c->v[mid].path);
		if (r == 0)
			return &c->v[mid];
		if (r < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}
