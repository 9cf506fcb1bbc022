#include "sandbox/native/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/process.h"

#define SCRATCH ".scratch"
#define MASKS	".masks"
#define LOWER	".lower"
#define LAYERS	".layers"

struct builder {
	const struct plan *plan;
	const struct root_trees *trees;
	struct root_result *result;
	struct error *err;
	int root;     /* the new root, our current folder */
	size_t tree; /* next of trees */
};

static int fail(struct builder *b, int code, const struct plan_op *op, const char *what)
{
	struct text_shown t;

	return error_sys(b->err, code, "sandbox root: %s %s", what, text_show(&t, sv_of(op->target)));
}

/* Makes the folders down to the last component, then that as a folder or an empty file. An O_PATH fd of it. */
static int make_place(int root, const char *target, bool folder, mode_t mode)
{
	char name[256];
	const char *at = target + 1, *end;
	int dir = fcntl(root, F_DUPFD_CLOEXEC, 3), next, fd;
	bool last;

	while (dir >= 0) {
		end = strchr(at, '/');
		last = !end;
		if (!end)
			end = at + strlen(at);
		if ((size_t)(end - at) >= sizeof(name)) {
			(void)close(dir);
			return -ENAMETOOLONG;
		}
		memcpy(name, at, (size_t)(end - at));
		name[end - at] = '\0';
		next = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 && errno == ENOENT) {
			if (!last || folder) {
				(void)mkdirat(dir, name, last ? mode : 0755);
			} else {
				fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
				if (fd >= 0)
					(void)close(fd);
			}
			next = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		}
		if (next < 0)
			next = -errno;
		(void)close(dir);
		if (last || next < 0)
			return next;
		dir = next;
		at = end + 1;
	}
	return -errno;
}

/* What stands at target now, or a new place where nothing does. */
static int find_place(struct builder *b, const char *target, bool folder, mode_t mode)
{
	int fd = sys_open_in_root(b->root, target, O_PATH);

	return fd == -ENOENT ? make_place(b->root, target, folder, mode) : fd;
}

static int put_tree(struct builder *b, const struct plan_op *op, int tree)
{
	AUTO_FD mine = tree;
	AUTO_FD place = -1;
	struct stat st;
	int r;

	if (fstat(mine, &st) < 0)
		return fail(b, errno, op, "stat");
	place = find_place(b, op->target, S_ISDIR(st.st_mode), S_ISDIR(st.st_mode) ? 0755 : 0644);
	if (place < 0)
		return fail(b, place, op, "make");
	r = sys_tree_attach(mine, place, "");
	return r < 0 ? fail(b, r, op, "mount") : 0;
}

static int clone_source(struct builder *b, const struct plan_op *op)
{
	AUTO_FD source = -1;

	if (op->host && b->tree < b->trees->n && b->trees->fds[b->tree] >= 0)
		return b->trees->fds[b->tree++];
	if (op->host)
		b->tree++;
	if (!op->host)
		return sys_tree_clone(AT_FDCWD, op->source, op->flags);
	source = sys_open_no_links(op->source, O_PATH);
	if (source < 0)
		return source;
	return sys_tree_clone(source, "", op->flags);
}

static int op_bind(struct builder *b, const struct plan_op *op)
{
	int tree = clone_source(b, op);

	if (tree < 0)
		return fail(b, tree, op, "show");
	return put_tree(b, op, tree);
}

static int op_device(struct builder *b, const struct plan_op *op)
{
	int tree = sys_tree_clone(AT_FDCWD, op->source, MOUNT_READ_ONLY | MOUNT_NO_EXEC);

	return tree < 0 ? fail(b, tree, op, "device") : put_tree(b, op, tree);
}

static int op_dir(struct builder *b, const struct plan_op *op)
{
	AUTO_FD fd = find_place(b, op->target, true, op->mode);

	return fd < 0 ? fail(b, fd, op, "folder") : 0;
}

/* The folder that holds target, and its last name. */
static int parent_place(struct builder *b, const struct plan_op *op, const char **ret_name)
{
	const char *slash = strrchr(op->target, '/');
	char parent[4096];

	*ret_name = slash + 1;
	if (slash == op->target)
		return fcntl(b->root, F_DUPFD_CLOEXEC, 3);
	if ((size_t)(slash - op->target) >= sizeof(parent))
		return -ENAMETOOLONG;
	memcpy(parent, op->target, (size_t)(slash - op->target));
	parent[slash - op->target] = '\0';
	return find_place(b, parent, true, 0755);
}

static int op_link(struct builder *b, const struct plan_op *op)
{
	const char *name;
	AUTO_FD dir = parent_place(b, op, &name);

	if (dir < 0)
		return fail(b, dir, op, "link");
	if (symlinkat(op->source, dir, name) < 0 && errno != EEXIST)
		return fail(b, errno, op, "link");
	return 0;
}

static int op_file(struct builder *b, const struct plan_op *op)
{
	const char *name;
	AUTO_FD dir = parent_place(b, op, &name);
	AUTO_FD fd = -1;
	int r;

	if (dir < 0)
		return fail(b, dir, op, "file");
	fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, op->mode);
	if (fd < 0)
		return fail(b, errno, op, "file");
	r = write_all(fd, op->source, strlen(op->source));
	return r < 0 ? fail(b, r, op, "file") : 0;
}

/* One of the scratch places: a folder of the scratch file system, shown at target. */
static int op_tmpfs(struct builder *b, const struct plan_op *op)
{
	char inner[64];
	int tree;

	(void)snprintf(inner, sizeof(inner), SCRATCH "/%s", op->source);
	if (mkdir(inner, op->mode) < 0 || chmod(inner, op->mode) < 0)
		return fail(b, errno, op, "scratch");
	tree = sys_tree_clone(b->root, inner, op->flags | MOUNT_NO_DEV);
	return tree < 0 ? fail(b, tree, op, "scratch") : put_tree(b, op, tree);
}

static int op_proc(struct builder *b, const struct plan_op *op)
{
	if (mkdir("proc", 0755) < 0 && errno != EEXIST)
		return fail(b, errno, op, "folder");
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
		return 0;
	/* A container hides parts of its own /proc: the kernel will not give us a complete one. An empty one is no weaker. */
	if (errno != EPERM)
		return fail(b, errno, op, "mount");
	b->result->proc_missing = true;
	return 0;
}

static int op_pts(struct builder *b, const struct plan_op *op)
{
	AUTO_FD place = find_place(b, op->target, true, 0755);
	char path[64];

	if (place < 0)
		return fail(b, place, op, "folder");
	(void)snprintf(path, sizeof(path), ".%s", op->target);
	if (mount("devpts", path, "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0600,max=64") < 0)
		return fail(b, errno, op, "mount");
	return 0;
}

/* Layers must be attached somewhere while the overlay is mounted. */
static int attach_layer(struct builder *b, int tree, const char *name)
{
	AUTO_FD mine = tree;

	if (tree < 0)
		return tree;
	if (mkdir(name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return sys_tree_attach(mine, b->root, name);
}

static int clone_layers(struct builder *b, const struct plan_op *op)
{
	AUTO_FD source = -1;

	if (b->tree < b->trees->n)
		return b->trees->fds[b->tree++];
	source = sys_open_no_links(op->upper, O_PATH);
	return source < 0 ? source : sys_tree_clone(source, "", MOUNT_NO_DEV);
}

static int op_overlay(struct builder *b, const struct plan_op *op)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | (op->flags & MOUNT_NO_EXEC ? MS_NOEXEC : 0);
	AUTO_FD place = -1;
	char path[64];
	int r = attach_layer(b, clone_source(b, op), LOWER);

	if (r == 0)
		r = attach_layer(b, clone_layers(b, op), LAYERS);
	if (r < 0)
		return fail(b, r, op, "copy");
	place = find_place(b, op->target, true, 0755);
	if (place < 0)
		return fail(b, place, op, "make");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	/* the work folder of all this is the new root, so that these names need no quoting */
	if (mount("overlay", path, "overlay", flags, "lowerdir=" LOWER ",upperdir=" LAYERS "/upper,workdir=" LAYERS "/work,userxattr") < 0) {
		(void)fail(b, errno, op, "copy-on-write view of");
		b->err->kind = ERROR_MISSING;
		b->err->code = ENODEV;
		return -1;
	}
	(void)umount2(LOWER, MNT_DETACH);
	(void)umount2(LAYERS, MNT_DETACH);
	(void)rmdir(LOWER);
	(void)rmdir(LAYERS);
	return 0;
}

static int lay_over(int place, bool hidden, unsigned flags)
{
	AUTO_FD tree = -1;
	struct stat st;

	if (fstat(place, &st) < 0)
		return -errno;
	if (!hidden)
		tree = sys_tree_clone(place, "", flags);
	else
		tree = sys_tree_clone_plain(AT_FDCWD, S_ISDIR(st.st_mode) ? MASKS "/folder" : MASKS "/file");
	if (tree < 0)
		return tree;
	return sys_tree_attach(tree, place, "");
}

static int op_over(struct builder *b, const struct plan_op *op)
{
	AUTO_FD place = -1;
	int r;

	if (b->result->proc_missing && strncmp(op->target, "/proc", 5) == 0)
		return 0;
	place = sys_open_in_root(b->root, op->target, O_PATH | O_NOFOLLOW);
	if (place == -ENOENT || place == -ENOTDIR)
		return 0; /* gone since: the guard keeps it so */
	if (place < 0)
		return fail(b, place, op, "find");
	r = lay_over(place, op->kind == PLAN_MASK, op->flags);
	/* A symbolic link cannot be mounted over. It names another path, which is judged by its own name. */
	if (r == -ELOOP || r == -EINVAL) {
		struct stat st;

		if (fstat(place, &st) == 0 && S_ISLNK(st.st_mode))
			return 0;
	}
	return r < 0 ? fail(b, r, op, op->kind == PLAN_MASK ? "hide" : "protect") : 0;
}

/* Shows the host's file again over what was shown without the right to execute it. */
static int op_exec(struct builder *b, const struct plan_op *op)
{
	int tree = sys_tree_clone(AT_FDCWD, op->target, op->flags);

	if (tree == -ENOENT)
		return 0;
	return tree < 0 ? fail(b, tree, op, "show") : put_tree(b, op, tree);
}

static int (*const steps[])(struct builder *, const struct plan_op *) = {
	[PLAN_DIR] = op_dir,	 [PLAN_LINK] = op_link,	   [PLAN_FILE] = op_file,	[PLAN_BIND] = op_bind,
	[PLAN_TMPFS] = op_tmpfs, [PLAN_PROC] = op_proc,	   [PLAN_DEVICE] = op_device,	[PLAN_PTS] = op_pts,
	[PLAN_OVERLAY] = op_overlay, [PLAN_PROTECT] = op_over, [PLAN_MASK] = op_over, [PLAN_EXEC] = op_exec,
};

static bool hides(const struct plan *p, const char *spot)
{
	size_t n = strlen(spot), i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].source && strncmp(p->ops[i].source, spot, n) == 0 && (p->ops[i].source[n] == '/' || !p->ops[i].source[n]))
			return true;
	return strncmp(p->state_dir, spot, n) == 0 && p->state_dir[n] == '/';
}

/* A file system to build on, over some folder that the machine has and that nothing is shown from. */
static int mount_base(struct builder *b)
{
	static const char *const spots[] = {"/sys", "/mnt", "/srv", "/media", "/opt", "/boot", "/var", "/tmp", "/home", NULL};
	size_t i;

	errno = ENOENT;
	for (i = 0; spots[i]; i++) {
		if (hides(b->plan, spots[i]) ||
		    mount("cordon", spots[i], "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,nr_inodes=8192,mode=0755") < 0)
			continue;
		b->root = open(spots[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (b->root >= 0 && fchdir(b->root) == 0)
			return 0;
	}
	return error_sys(b->err, errno, "sandbox root: mount a tmpfs");
}

/* Masks are an empty file and an empty folder that nobody may open, on a read-only mount. */
static int mount_masks(struct builder *b)
{
	AUTO_FD file = -1;
	AUTO_FD tree = -1;

	if (mkdir(MASKS, 0755) < 0 || mkdir(MASKS "/folder", 0) < 0)
		return error_sys(b->err, errno, "sandbox root: masks");
	file = open(MASKS "/file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
	if (file < 0)
		return error_sys(b->err, errno, "sandbox root: masks");
	tree = sys_tree_clone(b->root, MASKS, MOUNT_READ_ONLY | MOUNT_NO_EXEC | MOUNT_NO_DEV);
	if (tree < 0 || sys_tree_attach(tree, b->root, MASKS) < 0)
		return error_sys(b->err, errno, "sandbox root: masks");
	return 0;
}

static int mount_scratch(struct builder *b)
{
	char data[96];
	uint64_t inodes = b->plan->tmp_size / 4096;

	(void)snprintf(data, sizeof(data), "size=%llu,nr_inodes=%llu,mode=0755", (unsigned long long)b->plan->tmp_size,
		       (unsigned long long)(inodes < 1024 ? 1024 : inodes));
	if (mkdir(SCRATCH, 0700) < 0 || mount("scratch", SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, data) < 0)
		return error_sys(b->err, errno, "sandbox root: scratch space");
	return 0;
}

/* The build folders go, the base becomes read-only, and it becomes the root; the host's tree goes with the old one. */
static int enter(struct builder *b)
{
	int r;

	(void)umount2(SCRATCH, MNT_DETACH);
	(void)rmdir(SCRATCH);
	/* The masks stay, out of sight: names that the host makes during the run are covered with them. */
	r = sys_mount_flags(".", MOUNT_READ_ONLY | MOUNT_NO_DEV, false);
	if (r < 0)
		return error_sys(b->err, r, "sandbox root: read-only");
	r = sys_pivot_root(".", ".");
	if (r < 0)
		return error_sys(b->err, r, "sandbox root: pivot_root");
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return error_sys(b->err, errno, "sandbox root: leave the host's tree");
	return 0;
}

int root_build(const struct plan *p, const struct root_trees *trees, struct root_result *ret, struct error *err)
{
	struct builder b = {.plan = p, .trees = trees, .result = ret, .err = err, .root = -1};
	size_t i;
	int r;

	*ret = (struct root_result){0};
	r = mount_base(&b);
	if (r == 0)
		r = mount_masks(&b);
	if (r == 0)
		r = mount_scratch(&b);
	for (i = 0; r == 0 && i < p->n_ops; i++)
		r = steps[p->ops[i].kind](&b, &p->ops[i]);
	if (r == 0)
		r = enter(&b);
	if (b.root >= 0)
		(void)close(b.root);
	return r;
}

int root_mask_again(const char *path, bool hidden)
{
	AUTO_FD place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (place < 0)
		return -errno;
	return lay_over(place, hidden, MOUNT_READ_ONLY | MOUNT_NO_DEV);
}
