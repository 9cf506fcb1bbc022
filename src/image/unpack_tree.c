#include "image/unpack_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "image/limit.h"
#include "image/unpack_path.h"
#include "sys/beneath.h"

enum { NOBODY = 65534, TIMES_ROOM = 64 << 20, SET_IDS = 06000 };

static const char opaque_attribute[] = "user.overlay.opaque";

/* A folder's time, set when nothing is made in it any more. */
struct times {
	struct times *next;
	int64_t mtime;
	char path[];
};

struct unpack_tree {
	int root;
	uint32_t ids;
	struct unpack_limits limits;
	struct unpack_counts counts;
	/* the folder that was worked in last: entries mostly stand one behind the other */
	int parent;
	char parent_path[UNPACK_PATH_MAX];
	struct arena *arena;
	struct times *times;
	size_t times_room;
	const char *wrong;
	int code;
};

struct unpack_tree *unpack_tree_new(int folder, uint32_t ids, const struct unpack_limits *limits)
{
	struct unpack_tree *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	*u = (struct unpack_tree){.root = folder,
				  .ids = ids,
				  .limits = *limits,
				  .parent = -1,
				  .arena = arena_new(),
				  .times_room = TIMES_ROOM};
	if (u->arena)
		return u;
	free(u);
	return NULL;
}

void unpack_tree_free(struct unpack_tree *u)
{
	if (!u)
		return;
	if (u->parent >= 0)
		(void)close(u->parent);
	arena_free(u->arena);
	free(u);
}

const struct unpack_counts *unpack_tree_counts(const struct unpack_tree *u)
{
	return &u->counts;
}

const char *unpack_tree_wrong(const struct unpack_tree *u, int *ret_code)
{
	*ret_code = u->code;
	return u->wrong ? u->wrong : "";
}

static int fail(struct unpack_tree *u, const char *wrong, int code)
{
	u->wrong = wrong;
	u->code = code;
	return -1;
}

/* Of a call that goes along a path. */
static int fail_path(struct unpack_tree *u, int r)
{
	if (r == -ELOOP)
		return fail(u, "goes through a symbolic link that the archive made", 0);
	if (r == -ENOTDIR)
		return fail(u, "goes through something that is no folder", 0);
	return fail(u, "cannot be made", -r);
}

static int count_entry(struct unpack_tree *u)
{
	return ++u->counts.entries > u->limits.entries ? fail(u, "is one entry more than there may be", 0) : 0;
}

/* The folder that `path`, n bytes of it, leads to; made with what is above it where it is missing. An fd that stays
 * ours, or -1. */
static int open_parent(struct unpack_tree *u, const char *path, size_t n)
{
	char part[UNPACK_PATH_MAX];
	size_t i;
	int fd;

	if (n == 0)
		return u->root;
	memcpy(part, path, n);
	part[n] = '\0';
	if (u->parent >= 0 && strcmp(part, u->parent_path) == 0)
		return u->parent;
	fd = sys_open_beneath(u->root, part, O_RDONLY | O_DIRECTORY, 0);
	if (fd == -ENOENT) {
		for (i = 1; i <= n; i++) {
			if (part[i] != '/' && part[i] != '\0')
				continue;
			part[i] = '\0';
			/* what is no folder is found when it is opened */
			fd = mkdirat(u->root, part, 0755) < 0 ? -errno : 0;
			if (fd == 0 && count_entry(u) < 0)
				return -1;
			if (fd < 0 && fd != -EEXIST)
				return fail_path(u, fd);
			fd = sys_open_beneath(u->root, part, O_RDONLY | O_DIRECTORY, 0);
			if (fd < 0)
				return fail_path(u, fd);
			if (i < n) {
				(void)close(fd);
				part[i] = '/';
			}
		}
	}
	if (fd < 0)
		return fail_path(u, fd);
	if (u->parent >= 0)
		(void)close(u->parent);
	u->parent = fd;
	memcpy(u->parent_path, part, n + 1);
	return fd;
}

/* The kept folder may be the one that goes; it is the one that we work in where that is not the root. */
static void forget_parent(struct unpack_tree *u)
{
	if (u->parent >= 0)
		(void)close(u->parent);
	u->parent = -1;
}

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == 0;
}

/* Nothing is in the way any more. *ret_gone: a whiteout was there. */
static int make_way(struct unpack_tree *u, int dir, const char *name, bool *ret_gone)
{
	struct stat st;

	*ret_gone = false;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(u, "cannot be made", errno);
	*ret_gone = is_whiteout(&st);
	if (S_ISDIR(st.st_mode) && dir == u->root)
		forget_parent(u);
	if (unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) == 0)
		return 0;
	if (errno == ENOTEMPTY || errno == EEXIST)
		return fail(u, "would take the place of a folder with something in it", 0);
	return fail(u, "cannot be made", errno);
}

/* The ids that the file gets; those that do not exist here are nobody's. */
static void pick_ids(struct unpack_tree *u, const struct tar_entry *e, uid_t *uid, gid_t *gid)
{
	bool uid_fits = e->uid < u->ids, gid_fits = e->gid < u->ids;

	*uid = *gid = 0;
	if (!uid_fits || !gid_fits)
		u->counts.ids++;
	if (u->ids == 1)
		return;
	*uid = uid_fits ? (uid_t)e->uid : NOBODY;
	*gid = gid_fits ? (gid_t)e->gid : NOBODY;
}

static mode_t pick_mode(struct unpack_tree *u, const struct tar_entry *e)
{
	if (u->ids > 1 || e->type == TAR_FOLDER || !(e->mode & SET_IDS))
		return e->mode;
	u->counts.setuid++;
	return e->mode & ~(mode_t)SET_IDS;
}

/* Only what a user could set, and nothing that overlayfs would believe. */
static int set_xattrs(struct unpack_tree *u, int fd, const struct tar_entry *e)
{
	char name[256];
	size_t i;

	for (i = 0; i < e->n_xattrs; i++) {
		const struct tar_xattr *x = &e->xattrs[i];

		if (!sv_starts(x->name, "user.") || sv_starts(x->name, "user.overlay.") || x->name.n >= sizeof(name)) {
			u->counts.xattrs++;
			continue;
		}
		memcpy(name, x->name.p, x->name.n);
		name[x->name.n] = '\0';
		if (fsetxattr(fd, name, x->value.p, x->value.n, 0) < 0)
			u->counts.xattrs++; /* too large for this file system, or it has none */
	}
	return 0;
}

/* Owner first: a change of it takes bits of the mode away. */
static int set_facts(struct unpack_tree *u, int fd, const struct tar_entry *e)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = e->mtime}};
	uid_t uid;
	gid_t gid;

	pick_ids(u, e, &uid, &gid);
	if (u->ids > 1 && fchown(fd, uid, gid) < 0)
		return fail(u, "cannot be given to its owner", errno);
	(void)set_xattrs(u, fd, e);
	if (fchmod(fd, pick_mode(u, e)) < 0)
		return fail(u, "cannot get its mode", errno);
	if (e->type != TAR_FOLDER)
		(void)futimens(fd, times); /* a time that the file system cannot hold is no harm */
	return 0;
}

static void remember_time(struct unpack_tree *u, const char *path, int64_t mtime)
{
	size_t n = strlen(path) + 1;
	struct times *t;

	if (u->times_room < sizeof(*t) + n)
		return;
	t = arena_alloc(u->arena, sizeof(*t) + n);
	if (!t)
		return;
	u->times_room -= sizeof(*t) + n;
	t->mtime = mtime;
	memcpy(t->path, path, n);
	t->next = u->times;
	u->times = t;
}

int unpack_tree_finish(struct unpack_tree *u)
{
	const struct times *t;

	for (t = u->times; t; t = t->next) {
		struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = t->mtime}};
		AUTO_FD fd = sys_open_beneath(u->root, t->path[0] ? t->path : ".", O_RDONLY | O_DIRECTORY, 0);

		if (fd >= 0)
			(void)futimens(fd, times);
	}
	return 0;
}

static int make_opaque(struct unpack_tree *u, int fd)
{
	return fsetxattr(fd, opaque_attribute, "y", 1, 0) < 0
		       ? fail(u, "cannot say that lower layers' files are gone: the file system has no user attributes",
			      errno)
		       : 0;
}

static int add_folder(struct unpack_tree *u, const struct tar_entry *e, const struct unpack_path *p, int dir)
{
	struct tar_entry root;
	bool gone = false;
	struct stat st;
	AUTO_FD fd = -1;

	/* whoever keeps the store moves it about, and must get into it */
	if (!p->path[0]) {
		root = *e;
		root.uid = root.gid = 0;
		root.mode |= 0700;
		e = &root;
	}
	if (p->path[0]) {
		if (fstatat(dir, p->last, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode)) {
			if (make_way(u, dir, p->last, &gone) < 0)
				return -1;
			if (mkdirat(dir, p->last, 0700) < 0)
				return fail(u, "cannot be made", errno);
		}
		fd = sys_open_beneath(dir, p->last, O_RDONLY | O_DIRECTORY, 0);
	} else {
		fd = sys_open_beneath(u->root, ".", O_RDONLY | O_DIRECTORY, 0);
	}
	if (fd < 0)
		return fail_path(u, fd);
	if (gone && make_opaque(u, fd) < 0)
		return -1;
	remember_time(u, p->path, e->mtime);
	return set_facts(u, fd, e);
}

static int write_at(int fd, struct sv s, uint64_t at)
{
	ssize_t n;

	while (s.n) {
		n = pwrite(fd, s.p, s.n, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		s = sv_n(s.p + n, s.n - (size_t)n);
		at += (uint64_t)n;
	}
	return 0;
}

/* Zeros become holes, so that what a bomb is mostly made of takes no room. *end: of what was written. */
static int write_data(int fd, struct sv s, uint64_t at, uint64_t *end)
{
	size_t n;
	int r;

	for (; s.n; s = sv_n(s.p + n, s.n - n), at += n) {
		n = LIMIT_PIECE - (size_t)(at % LIMIT_PIECE);
		n = n < s.n ? n : s.n;
		if (limit_is_zeros(s.p, n))
			continue;
		r = write_at(fd, sv_n(s.p, n), at);
		if (r < 0)
			return r;
		*end = at + n;
	}
	return 0;
}

static int add_file(struct unpack_tree *u, const struct tar_entry *e, const struct unpack_path *p, int dir,
		    struct tar *t)
{
	struct sv s = {0};
	uint64_t at = 0, end = 0;
	AUTO_FD fd = -1;
	int r;

	if (e->size > u->limits.bytes - u->counts.bytes)
		return fail(u, "makes the image larger than one may be", 0);
	u->counts.bytes += e->size;
	fd = sys_open_beneath(dir, p->last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fail_path(u, fd);
	while ((r = tar_data(t, &s, &at)) > 0) {
		r = write_data(fd, s, at, &end);
		if (r < 0)
			return fail(u, "cannot be written", -r);
	}
	if (r < 0)
		return -1;
	if (end < e->size && ftruncate(fd, (off_t)e->size) < 0)
		return fail(u, "cannot be written", errno);
	return set_facts(u, fd, e);
}

static int add_link(struct unpack_tree *u, const struct tar_entry *e, const struct unpack_path *p, int dir)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = e->mtime}};
	char target[TAR_MAX_PATH + 1];
	uid_t uid;
	gid_t gid;

	if (!e->link.n || e->link.n >= UNPACK_PATH_MAX)
		return fail(u, "is a link to nowhere", 0);
	memcpy(target, e->link.p, e->link.n);
	target[e->link.n] = '\0';
	if (symlinkat(target, dir, p->last) < 0)
		return fail(u, "cannot be made", errno);
	pick_ids(u, e, &uid, &gid);
	if (u->ids > 1 && fchownat(dir, p->last, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(u, "cannot be given to its owner", errno);
	(void)utimensat(dir, p->last, times, AT_SYMLINK_NOFOLLOW);
	return 0;
}

/* Where a hard link leads must be in the archive, before it, and a file: by then it stands below our folder. */
static int find_target(struct unpack_tree *u, const struct tar_entry *e, struct unpack_path *target, int *ret_dir)
{
	const char *wrong = unpack_path_read(e->link, target);
	char part[UNPACK_PATH_MAX];
	struct stat st;
	AUTO_FD fd = -1;

	if (wrong || target->special != UNPACK_PLAIN || !target->path[0])
		return fail(u, "is a hard link to what cannot be in an image", 0);
	memcpy(part, target->path, target->parent);
	part[target->parent] = '\0';
	fd = sys_open_beneath(u->root, part[0] ? part : ".", O_RDONLY | O_DIRECTORY, 0);
	if (fd == -ELOOP)
		return fail(u, "is a hard link through a symbolic link that the archive made", 0);
	if (fd < 0 || fstatat(fd, target->last, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(u, "is a hard link to what the archive does not have before it", 0);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return fail(u, "is a hard link to what is no file", 0);
	*ret_dir = fd_take(&fd);
	return 0;
}

static int add_hard_link(struct unpack_tree *u, const struct tar_entry *e, const struct unpack_path *p, int dir)
{
	struct unpack_path target;
	bool gone;
	AUTO_FD from = -1;

	if (find_target(u, e, &target, &from) < 0)
		return -1;
	if (strcmp(target.path, p->path) == 0)
		return fail(u, "is a hard link to itself", 0);
	if (make_way(u, dir, p->last, &gone) < 0)
		return -1;
	return linkat(from, target.last, dir, p->last, 0) < 0 ? fail(u, "cannot be made", errno) : 0;
}

static int add_fifo(struct unpack_tree *u, const struct tar_entry *e, const struct unpack_path *p, int dir)
{
	uid_t uid;
	gid_t gid;

	pick_ids(u, e, &uid, &gid);
	if (mkfifoat(dir, p->last, e->mode & 0777) < 0)
		return fail(u, "cannot be made", errno);
	if (u->ids > 1 && fchownat(dir, p->last, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(u, "cannot be given to its owner", errno);
	return 0;
}

static int add_whiteout(struct unpack_tree *u, const struct unpack_path *p, int dir)
{
	struct stat st;
	AUTO_FD fd = -1;

	if (p->special == UNPACK_OPAQUE)
		return make_opaque(u, dir);
	if (fstatat(dir, p->last, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return fail(u, "cannot be made", errno);
		return mknodat(dir, p->last, S_IFCHR, makedev(0, 0)) < 0 ? fail(u, "cannot be made: a whiteout", errno)
									 : 0;
	}
	if (!S_ISDIR(st.st_mode))
		return 0; /* it hides what is below by itself */
	fd = sys_open_beneath(dir, p->last, O_RDONLY | O_DIRECTORY, 0);
	return fd < 0 ? fail_path(u, fd) : make_opaque(u, fd);
}

static int add_plain(struct unpack_tree *u, const struct tar_entry *e, const struct unpack_path *p, int dir,
		     struct tar *t)
{
	bool gone;

	switch (e->type) {
	case TAR_FOLDER:
		return add_folder(u, e, p, dir);
	case TAR_HARD_LINK:
		return add_hard_link(u, e, p, dir); /* its target may be what is in the way */
	case TAR_CHAR:
	case TAR_BLOCK_DEVICE:
		u->counts.devices++;
		return 0;
	default:
		break;
	}
	if (make_way(u, dir, p->last, &gone) < 0)
		return -1;
	switch (e->type) {
	case TAR_FILE:
		return add_file(u, e, p, dir, t);
	case TAR_LINK:
		return add_link(u, e, p, dir);
	default:
		return add_fifo(u, e, p, dir);
	}
}

int unpack_tree_add(struct unpack_tree *u, const struct tar_entry *e, struct tar *t)
{
	const char *wrong;
	struct unpack_path p;
	int dir;

	wrong = unpack_path_read(e->path, &p);
	if (wrong)
		return fail(u, wrong, 0);
	if (p.special == UNPACK_SKIP) {
		u->counts.skipped++;
		return 0;
	}
	if (count_entry(u) < 0)
		return -1;
	if (!p.path[0] && e->type != TAR_FOLDER)
		return fail(u, "would take the place of the image's root", 0);
	/* the entry is a plain file everywhere; data in it would be nobody's */
	if (p.special != UNPACK_PLAIN && (e->type != TAR_FILE || e->size))
		return fail(u, "says that something is gone, and is no empty file", 0);
	dir = open_parent(u, p.path, p.parent);
	if (dir < 0)
		return -1;
	return p.special == UNPACK_PLAIN ? add_plain(u, e, &p, dir, t) : add_whiteout(u, &p, dir);
}
