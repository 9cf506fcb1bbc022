#include "sandbox/native/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan_source.h"
#include "sandbox/common/places.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/process.h"

/*
 * Theory of operation. The new root is a skeleton that an earlier run left (skeleton.h), or a small tmpfs. Every system
 * call here is paid by every start, and an unmount costs more than all of them (the kernel waits for other CPUs), so:
 *  1. where there is no skeleton, all places are made while the tmpfs holds nothing else: names are looked up plainly,
 * because nobody but us can have made anything there;
 *  2. the base system is attached, and one recursive call makes all of it, and what it stands on, read-only;
 *  3. the scratch file system and the layers of a copy-on-write folder are mounted where /proc will be: the fresh /proc
 * then covers them for good, and nothing need be unmounted;
 *  4. the rest follows in the plan's order. Folders of the host may hold anything, so from here on places inside them
 * are looked up without leaving the root.
 */
#define SCRATCH "proc"
#define LOWER	SCRATCH "/lower"
#define LAYERS	SCRATCH "/layers"
#define UPPER	LAYERS "/upper"
#define WORK	LAYERS "/work"

struct builder {
	const struct plan *plan;
	const struct root_trees *trees;
	struct root_result *result;
	struct error *err;
	const char *skeleton; /* the plan's, unless it cannot be used */
	int root;    /* the new root, our current folder */
	size_t tree; /* next of trees */
};

static int fail(struct error *err, int code, const struct plan_op *op, const char *what)
{
	struct text_shown t;

	return error_sys(err, code, "sandbox root: %s %s", what, text_show(&t, sv_of(op->target)));
}

/* The target's name from the new root, where we stand. */
static const char *at(const struct plan_op *op)
{
	return op->target + 1;
}

/* A skeleton may have been damaged, and a mask that is none would show what it covers. */
static int check_masks(struct builder *b)
{
	struct stat file, folder;

	if (lstat(PLACES_MASKS "/file", &file) < 0 || lstat(PLACES_MASKS "/folder", &folder) < 0 ||
	    file.st_mode != S_IFREG || folder.st_mode != S_IFDIR)
		return error_set(b->err, ERROR_SYSTEM, "sandbox root: %s was damaged; try again", b->skeleton);
	return 0;
}

static int make_places(struct builder *b)
{
	return b->skeleton ? check_masks(b) : places_make(b->plan, b->err);
}

static int attach_plainly(int tree, const char *path)
{
	AUTO_FD mine = tree;

	return tree < 0 ? tree : sys_tree_attach(mine, AT_FDCWD, path);
}

/* Step 2. */
static int attach_base(struct builder *b)
{
	const struct plan *p = b->plan;
	unsigned flags = MOUNT_READ_ONLY | MOUNT_NO_DEV | (p->restrict_exec ? MOUNT_NO_EXEC : 0);
	size_t i;
	int r;

	/* the masks must be a mount of their own, to be copied with its attributes */
	r = sys_bind(PLACES_MASKS, PLACES_MASKS, false);
	if (r < 0)
		return error_sys(b->err, r, "sandbox root: masks");
	for (i = 0; i < p->n_ops; i++) {
		if (p->ops[i].kind != PLAN_BIND || p->ops[i].host)
			continue;
		r = sys_bind(p->ops[i].source, at(&p->ops[i]), true);
		if (r < 0)
			return fail(b->err, r, &p->ops[i], "show");
	}
	r = sys_mount_flags(".", flags, true);
	return r < 0 ? error_sys(b->err, r, "sandbox root: make it read-only") : 0;
}

/* Step 3. */
static int mount_scratch(struct builder *b)
{
	uint64_t inodes = b->plan->tmp_size / 4096;
	char data[96];

	(void)snprintf(data, sizeof(data), "size=%llu,nr_inodes=%llu,mode=0755", (unsigned long long)b->plan->tmp_size,
		       (unsigned long long)(inodes < 1024 ? 1024 : inodes));
	if (mount("scratch", SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, data) < 0)
		return error_sys(b->err, errno, "sandbox root: scratch space");
	return 0;
}

/* A copy of a source on the host: prepared by the supervisor, or made here, of what the plan judged. */
static int clone_host(struct builder *b, const struct plan_op *op)
{
	AUTO_FD source = -1;

	if (b->tree < b->trees->n)
		return b->trees->fds[b->tree++];
	source = plan_source_open(op, O_PATH);
	return source < 0 ? source : sys_tree_clone(source, "", op->flags);
}

static int clone_upper(struct builder *b, const struct plan_op *op)
{
	AUTO_FD upper = -1;

	if (b->tree < b->trees->n)
		return b->trees->fds[b->tree++];
	upper = sys_open_no_links(op->upper, O_PATH);
	return upper < 0 ? upper : sys_tree_clone(upper, "", MOUNT_NO_DEV);
}

/* Makes the folders down to the last name, then that, without following a link. An O_PATH fd of it. */
static int make_safely(int root, const char *path, bool folder)
{
	AUTO_FD dir = fcntl(root, F_DUPFD_CLOEXEC, 3);
	char name[256];
	const char *end;
	int next, made;

	for (path++;; path = end + 1) {
		end = strchrnul(path, '/');
		if (dir < 0 || (size_t)(end - path) >= sizeof(name))
			return dir < 0 ? -errno : -ENAMETOOLONG;
		memcpy(name, path, (size_t)(end - path));
		name[end - path] = '\0';
		made = *end || folder ? mkdirat(dir, name, 0755) : mknodat(dir, name, S_IFREG | 0644, 0);
		if (made < 0 && errno != EEXIST)
			return -errno;
		next = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (*end ? O_DIRECTORY : 0));
		if (next < 0 || !*end)
			return next < 0 ? -errno : next;
		(void)close(dir);
		dir = next;
	}
}

/* Where the target is; scratch places may have covered what step 1 made. */
static int find_place(struct builder *b, const struct plan_op *op)
{
	int place = sys_open_in_root(b->root, op->target, O_PATH);

	return place == -ENOENT ? make_safely(b->root, op->target, op->folder) : place;
}

static int attach_safely(struct builder *b, int tree, const struct plan_op *op)
{
	AUTO_FD mine = tree;
	AUTO_FD place = -1;
	int r;

	if (tree < 0)
		return fail(b->err, tree, op, "show");
	place = find_place(b, op);
	if (place < 0)
		return fail(b->err, place, op, "find");
	r = sys_tree_attach(mine, place, "");
	return r < 0 ? fail(b->err, r, op, "mount") : 0;
}

static int op_none(struct builder *b, const struct plan_op *op)
{
	(void)b;
	(void)op;
	return 0;
}

static int op_bind(struct builder *b, const struct plan_op *op)
{
	int tree = op->host ? clone_host(b, op) : 0;

	if (tree < 0)
		return plan_source_error(op, tree, b->err);
	return op->host ? attach_safely(b, tree, op) : 0;
}

static int op_device(struct builder *b, const struct plan_op *op)
{
	int r = sys_bind(op->source, at(op), false);

	return r < 0 ? fail(b->err, r, op, "device") : 0;
}

/* One of the scratch places: a folder of the scratch file system, shown at target. */
static int op_tmpfs(struct builder *b, const struct plan_op *op)
{
	char inner[64];

	(void)snprintf(inner, sizeof(inner), SCRATCH "/%s", op->source);
	if (mkdir(inner, op->mode) < 0 || chmod(inner, op->mode) < 0)
		return fail(b->err, errno, op, "scratch");
	/* one may lie below another: a home in /tmp */
	return attach_safely(b,
			     op->flags & MOUNT_NO_EXEC ? sys_tree_clone(AT_FDCWD, inner, op->flags | MOUNT_NO_DEV)
						       : sys_tree_clone_plain(AT_FDCWD, inner),
			     op);
}

static int op_pts(struct builder *b, const struct plan_op *op)
{
	if (mount("devpts", at(op), "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0600,max=64") < 0)
		return fail(b->err, errno, op, "mount");
	return 0;
}

static int op_overlay(struct builder *b, const struct plan_op *op)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | (op->flags & MOUNT_NO_EXEC ? MS_NOEXEC : 0);
	AUTO_FD place = -1;
	char path[64];
	int r = mkdir(LOWER, 0700) < 0 || mkdir(LAYERS, 0700) < 0 ? -errno : 0, lower = r < 0 ? r : clone_host(b, op);

	if (r == 0 && lower < 0)
		return plan_source_error(op, lower, b->err);
	if (r == 0)
		r = attach_plainly(lower, LOWER);
	if (r == 0 && op->upper)
		r = attach_plainly(clone_upper(b, op), LAYERS);
	else if (r == 0)
		r = mkdir(UPPER, 0755) < 0 || mkdir(WORK, 0700) < 0 ? -errno : 0;
	if (r < 0)
		return fail(b->err, r, op, "copy");
	place = find_place(b, op);
	if (place < 0)
		return fail(b->err, place, op, "find");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	r = sys_takes_attributes(WORK);
	/* names from the new root, which need no quoting */
	if (r == 0 && mount("overlay", path, "overlay", flags,
			    "lowerdir=" LOWER ",upperdir=" UPPER ",workdir=" WORK ",userxattr") < 0)
		r = -errno;
	if (r < 0) {
		(void)fail(b->err, r, op, "copy-on-write view of");
		b->err->kind = ERROR_MISSING;
		b->err->code = ENODEV;
		return -1;
	}
	if (!op->upper)
		b->result->upper = open(UPPER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

/* What stands at place becomes unreadable, or read-only. */
static int lay_over(int place, bool hidden, unsigned flags)
{
	AUTO_FD tree = -1;
	struct stat st;

	if (fstat(place, &st) < 0)
		return -errno;
	if (!hidden)
		tree = sys_tree_clone(place, "", flags);
	else
		tree = sys_tree_clone_plain(AT_FDCWD,
					    S_ISDIR(st.st_mode) ? PLACES_MASKS "/folder" : PLACES_MASKS "/file");
	return tree < 0 ? tree : sys_tree_attach(tree, place, "");
}

static bool in_base(const struct plan_op *op)
{
	return strncmp(op->target, "/sys", 4) == 0 || strncmp(op->target, "/proc", 5) == 0 ||
	       strncmp(op->target, "/dev", 4) == 0;
}

/* Is the name in a folder that a mask was laid over before, so that nothing can be found there? Links on the way count
 * for what they lead to. */
static bool is_hidden_already(const struct builder *b, const char *target)
{
	struct stat mask, st;
	char path[PATH_MAX];
	int place;

	if (lstat(PLACES_MASKS "/folder", &mask) < 0 ||
	    (size_t)snprintf(path, sizeof(path), "%s", target) >= sizeof(path))
		return false;
	for (*strrchr(path, '/') = '\0'; *path; *strrchr(path, '/') = '\0') {
		place = sys_open_in_root(b->root, path, O_PATH);
		if (place < 0)
			continue;
		if (fstat(place, &st) < 0)
			st.st_ino = 0;
		(void)close(place);
		return st.st_ino == mask.st_ino && st.st_dev == mask.st_dev;
	}
	return false;
}

/* In a copy of a folder there is nothing of what the host has mounted in it. */
static bool in_copy(const struct plan *p, const char *target)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_OVERLAY && path_is_below(target, p->ops[i].target))
			return true;
	return false;
}

/* Something that is to be covered cannot be found. Gone since the plan was made, it may stand elsewhere now, uncovered;
 * what the plan found in the sandbox's own places may be missing. */
static int not_found(struct builder *b, const struct plan_op *op, int code)
{
	struct text_shown t;

	if (code == -ENOENT && in_base(op))
		return 0;
	if ((code == -ENOENT || code == -EACCES) && is_hidden_already(b, op->target))
		return 0;
	if (code != -ENOENT && code != -ENOTDIR)
		return fail(b->err, code, op, "find");
	return error_set(b->err, ERROR_SYSTEM,
			 "sandbox root: %.300s is to be %s (%.100s), and is not where it was when the plan was made; "
			 "try again if something changed it just now%s",
			 text_show(&t, sv_of(op->target)), op->kind == PLAN_MASK ? "hidden" : "protected", op->why,
			 in_copy(b->plan, op->target) ? ", or use another work folder, or no copy, if that lies on a "
							"mount of the host's: a copy has none"
						      : "");
}

static int op_over(struct builder *b, const struct plan_op *op)
{
	AUTO_FD place = sys_open_in_root(b->root, op->target, O_PATH | O_NOFOLLOW);
	struct stat st;
	int r;

	if (place < 0)
		return not_found(b, op, place);
	/* A symbolic link cannot be mounted over. It names another path, which is judged by its own name. */
	if (fstat(place, &st) == 0 && S_ISLNK(st.st_mode))
		return 0;
	r = lay_over(place, op->kind == PLAN_MASK, op->flags);
	return r < 0 ? fail(b->err, r, op, op->kind == PLAN_MASK ? "hide" : "protect") : 0;
}

/* What the sandbox has itself takes the place of what the host's folder has there. */
static int op_show(struct builder *b, const struct plan_op *op)
{
	return attach_safely(b, sys_tree_clone_plain(AT_FDCWD, op->source + 1), op);
}

/* What was shown without the right to execute it is shown again over itself, with it. */
static int op_exec(struct builder *b, const struct plan_op *op)
{
	AUTO_FD place = sys_open_in_root(b->root, op->target, O_PATH);
	AUTO_FD tree = -1;
	int r;

	if (place == -ENOENT)
		return 0;
	tree = place < 0 ? place : sys_tree_clone(place, "", (op->flags & ~MOUNT_NO_EXEC) | MOUNT_EXEC);
	r = tree < 0 ? tree : sys_tree_attach(tree, place, "");
	return r < 0 ? fail(b->err, r, op, "make executable") : 0;
}

static bool in_proc(const struct plan_op *op)
{
	return strncmp(op->target, "/proc/", 6) == 0;
}

static int (*const steps[])(struct builder *, const struct plan_op *) = {
	[PLAN_DIR] = op_none,	     [PLAN_LINK] = op_none,    [PLAN_FILE] = op_none,	  [PLAN_BIND] = op_bind,
	[PLAN_TMPFS] = op_tmpfs,     [PLAN_PROC] = op_none,    [PLAN_DEVICE] = op_device, [PLAN_PTS] = op_pts,
	[PLAN_OVERLAY] = op_overlay, [PLAN_PROTECT] = op_over, [PLAN_MASK] = op_over,	  [PLAN_EXEC] = op_exec,
	[PLAN_SHOW] = op_show,
};

/* Step 4: everything but /proc, which covers what the others still need. */
static int do_steps(struct builder *b)
{
	const struct plan_op *op;
	size_t i;

	for (i = 0; i < b->plan->n_ops; i++) {
		op = &b->plan->ops[i];
		if (!in_proc(op) && steps[op->kind](b, op) < 0)
			return -1;
	}
	return 0;
}

static int mount_proc(struct builder *b)
{
	const struct plan_op *op;
	size_t i;
	int r;

	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		/* A container hides parts of its own /proc: the kernel will not give us a complete one. An empty one is
		 * no weaker. */
		if (errno != EPERM)
			return error_sys(b->err, errno, "sandbox root: mount /proc");
		b->result->outer_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = sys_bind(PLACES_MASKS "/folder", "proc", false);
		return r < 0 ? error_sys(b->err, r, "sandbox root: /proc") : 0;
	}
	for (i = 0; i < b->plan->n_ops; i++) {
		op = &b->plan->ops[i];
		if (!in_proc(op) || op->kind != PLAN_MASK)
			continue;
		r = sys_bind(op->folder ? PLACES_MASKS "/folder" : PLACES_MASKS "/file", at(op), false);
		if (r < 0 && r != -ENOENT)
			return fail(b->err, r, op, "hide");
	}
	return 0;
}

static bool hides(const struct plan *p, const char *spot)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].source && path_is_in(p->ops[i].source, spot))
			return true;
	return path_is_below(p->state_dir, spot);
}

/* Puts a file system to build on over a folder. */
static int lay_base(struct builder *b, const char *spot)
{
	if (!b->skeleton)
		return mount("cordon", spot, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,nr_inodes=8192,mode=0755") < 0
			       ? -errno
			       : 0;
	/* the first of the trees; or our own user's, who may reach it by its name */
	return b->trees->n ? sys_tree_attach(b->trees->fds[0], AT_FDCWD, spot) : sys_bind(b->skeleton, spot, false);
}

/* Over some folder that the machine has and that nothing is shown from. */
static int find_spot(struct builder *b)
{
	static const char *const spots[] = {"/sys",  "/mnt", "/srv", "/media", "/opt",
					    "/boot", "/var", "/tmp", "/home",  NULL};
	size_t i;
	int r = -ENOENT;

	for (i = 0; spots[i]; i++) {
		if (hides(b->plan, spots[i]))
			continue;
		r = lay_base(b, spots[i]);
		if (r == 0) {
			b->root = open(spots[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
			return b->root < 0 || fchdir(b->root) < 0 ? -errno : 0;
		}
	}
	return r;
}

static int mount_base(struct builder *b)
{
	int r = find_spot(b);

	if (r < 0 && b->skeleton) {
		b->skeleton = NULL;
		r = find_spot(b);
	}
	if (b->plan->skeleton && b->trees->n)
		(void)close(b->trees->fds[b->tree++]);
	return r < 0 ? error_sys(b->err, r, "sandbox root: something to build on") : 0;
}

/* The new root becomes the root; the host's tree goes with the old one. */
static int enter(struct builder *b)
{
	int r = sys_pivot_root(".", ".");

	if (r < 0)
		return error_sys(b->err, r, "sandbox root: pivot_root");
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return error_sys(b->err, errno, "sandbox root: leave the host's tree");
	return 0;
}

int root_build(const struct plan *p, const struct root_trees *trees, struct root_result *ret, struct error *err)
{
	struct builder b = {.plan = p, .trees = trees, .result = ret, .err = err, .skeleton = p->skeleton, .root = -1};
	static int (*const stages[])(struct builder *) = {mount_base, make_places, attach_base, mount_scratch,
							  do_steps,   mount_proc,  enter};
	size_t i;
	int r = 0;

	*ret = (struct root_result){.upper = -1, .outer_proc = -1};
	for (i = 0; r == 0 && i < ARRAY_LEN(stages); i++)
		r = stages[i](&b);
	if (b.root >= 0)
		(void)close(b.root);
	return r;
}

bool root_has_masks(void)
{
	return access("/" PLACES_MASKS "/file", F_OK) == 0 && access("/" PLACES_MASKS "/folder", F_OK) == 0;
}

static bool is_same(const struct stat *st, const char *path)
{
	struct stat other;

	return stat(path, &other) == 0 && st->st_dev == other.st_dev && st->st_ino == other.st_ino;
}

/* A mask is a copy of one of two; a protection is a read-only mount. */
static bool is_covered(int place, const struct stat *st, bool hidden)
{
	struct statvfs v;

	if (S_ISLNK(st->st_mode) ||
	    is_same(st, S_ISDIR(st->st_mode) ? "/" PLACES_MASKS "/folder" : "/" PLACES_MASKS "/file"))
		return true;
	return !hidden && fstatvfs(place, &v) == 0 && (v.f_flag & ST_RDONLY);
}

/* A workload can nest folders until their path is longer than the kernel takes at once. */
int root_look(const char *path)
{
	AUTO_FD dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char part[PATH_MAX];
	size_t n;
	int next;

	for (path += strspn(path, "/"); dir >= 0 && strlen(path) >= sizeof(part); path += n + 1) {
		for (n = sizeof(part) - 1; n > 0 && path[n] != '/'; n--)
			;
		memcpy(part, path, n);
		part[n] = '\0';
		next = n ? openat(dir, part, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		if (next < 0)
			return n ? -errno : -ENAMETOOLONG;
		(void)close(dir);
		dir = next;
	}
	if (dir < 0)
		return -errno;
	next = openat(dir, *path ? path : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return next < 0 ? -errno : next;
}

int root_cover(const char *path, bool hidden)
{
	AUTO_FD place = root_look(path);

	if (place == -ENOENT || place == -ENOTDIR || place == -ELOOP || place == -EACCES)
		return 0;
	return place < 0 ? place : root_cover_at(place, hidden);
}

int root_cover_at(int place, bool hidden)
{
	struct stat st;
	int r;

	if (fstat(place, &st) < 0)
		return -errno;
	if (is_covered(place, &st, hidden))
		return 0;
	r = lay_over(place, hidden, MOUNT_READ_ONLY | MOUNT_NO_DEV);
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}
