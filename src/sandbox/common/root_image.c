#include "sandbox/common/root_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sandbox/common/root_place.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "sys/userns.h"

/*
 * Theory of operation. A small tmpfs is laid over some folder of the host's, in our mount namespace; in it are
 *	l/0 ...	the layers, read-only
 *	u	the folder of upper and work
 *	dev	what will be /dev
 *	made	what is shown over files of the image
 *	masks	what is laid over parts of /proc
 *	root	the overlay
 * When everything is in its place the overlay becomes the root, and the tmpfs goes with the host's tree.
 */
/* LIST_MAX, LINE_BYTES: of /etc/passwd and /etc/group. Go's readers of lines take less than 64 KiB. */
enum { LIST_MAX = 16 << 20, LINE_BYTES = 64 << 10 };

struct builder {
	const struct plan *plan;
	const struct root_image_trees *trees;
	struct root_places places;
	const char *at; /* to build on; NULL: any folder of the host's */
	const char *const *wanted; /* places for a runtime */
	char base[PATH_MAX];
	size_t tree;   /* next of trees */
	unsigned made; /* files in made/ */
	struct error *err;
};

size_t root_image_trees(const struct plan *p)
{
	size_t n = 1, i;

	for (i = 0; p->image->layers[i]; i++)
		n++;
	for (i = 0; i < p->n_ops; i++)
		n += p->ops[i].host;
	return n;
}

const char *root_image_tree(const struct plan *p, size_t i, char folder[], size_t room, unsigned *ret_flags)
{
	const struct image_root *r = p->image;
	size_t k;

	*ret_flags = MOUNT_READ_ONLY | MOUNT_NO_DEV;
	for (k = 0; r->layers[k]; k++)
		if (k == i)
			return r->layers[k];
	*ret_flags = MOUNT_NO_DEV;
	if (i == k) {
		(void)snprintf(folder, room, "%.*s", (int)(strrchr(r->upper, '/') - r->upper), r->upper);
		return folder;
	}
	for (i -= k + 1, k = 0; k < p->n_ops; k++) {
		if (!p->ops[k].host || i-- > 0)
			continue;
		*ret_flags = p->ops[k].flags;
		return p->ops[k].source;
	}
	return NULL;
}

int root_image_check(const struct image_root *r, struct error *err)
{
	const char *const paths[] = {r->upper, r->work};
	char folder[PATH_MAX];
	struct text_shown t;
	struct stat st;
	size_t i;

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(r->upper, '/') - r->upper), r->upper);
	if (lstat(folder, &st) < 0)
		return error_sys(err, errno, "image: %s", text_show(&t, sv_of(folder)));
	if (!S_ISDIR(st.st_mode) || st.st_uid != r->ids.zero_uid || st.st_mode & 077)
		return error_set(err, ERROR_DENIED,
				 "image: %s, which holds the upper folder, must be closed to others (0700) and belong "
				 "to the image's root",
				 text_show(&t, sv_of(folder)));
	for (i = 0; i < ARRAY_LEN(paths); i++)
		if (lstat(paths[i], &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != r->ids.zero_uid)
			return error_set(err, ERROR_DENIED, "image: %s is no folder of the image's root",
					 text_show(&t, sv_of(paths[i])));
	return 0;
}

static bool is_of(uint32_t id, uint32_t count, uint32_t zero, uint32_t first)
{
	return id == zero || (id >= first && id - first < count - 1);
}

/* Shows all ids of the image as they are inside. */
static int clone_inside(const struct image_ids *i, int dirfd, const char *path, unsigned flags)
{
	char uids[96], gids[96];
	AUTO_FD userns = -1;
	int n = snprintf(uids, sizeof(uids), "%u 0 1\n", i->zero_uid),
	    m = snprintf(gids, sizeof(gids), "%u 0 1\n", i->zero_gid);

	if (i->count > 1) {
		(void)snprintf(uids + n, sizeof(uids) - (size_t)n, "%u 1 %u\n", i->first_uid, i->count - 1);
		(void)snprintf(gids + m, sizeof(gids) - (size_t)m, "%u 1 %u\n", i->first_gid, i->count - 1);
	}
	userns = sys_userns_make(uids, gids);
	return userns < 0 ? userns : sys_tree_clone_idmapped(dirfd, path, flags, userns);
}

static int clone_own(const struct plan *p, int dirfd, const char *path, unsigned flags, enum root_image_ids ids)
{
	return ids == ROOT_IMAGE_INSIDE ? clone_inside(&p->image->ids, dirfd, path, flags)
					: sys_tree_clone(dirfd, path, flags);
}

static int clone_mount(const struct plan *p, const char *path, unsigned flags, enum root_image_ids ids,
		       struct error *err)
{
	const struct image_ids *i = &p->image->ids;
	uint32_t uid = ids == ROOT_IMAGE_INSIDE ? 0 : i->zero_uid, gid = ids == ROOT_IMAGE_INSIDE ? 0 : i->zero_gid;
	AUTO_FD source = sys_open_no_links(path, O_PATH);
	struct text_shown t;
	AUTO_FD userns = -1;
	struct stat st;

	if (source < 0 || fstat(source, &st) < 0)
		return error_sys(err, source < 0 ? source : errno, "image: %s", text_show(&t, sv_of(path)));
	if (is_of(st.st_uid, i->count, i->zero_uid, i->first_uid) &&
	    is_of(st.st_gid, i->count, i->zero_gid, i->first_gid))
		return clone_own(p, source, "", flags, ids);
	if (!(flags & MOUNT_READ_ONLY))
		return error_set(err, ERROR_DENIED,
				 "image: %s is to be writable inside, and belongs to none of the image's ids",
				 text_show(&t, sv_of(path)));
	if (st.st_uid == uid && st.st_gid == gid)
		return sys_tree_clone(source, "", flags);
	userns = sys_idmap_userns(st.st_uid, uid, st.st_gid, gid, NULL);
	return userns < 0 ? userns : sys_tree_clone_idmapped(source, "", flags, userns);
}

int root_image_clone(const struct plan *p, size_t i, enum root_image_ids ids, struct error *err)
{
	size_t plain = root_image_trees(p), k;
	struct text_shown t;
	char folder[PATH_MAX];
	unsigned flags;
	const char *path = root_image_tree(p, i, folder, sizeof(folder), &flags);
	int fd;

	for (k = 0; k < p->n_ops; k++)
		plain -= p->ops[k].host;
	fd = i < plain ? clone_own(p, AT_FDCWD, path, flags, ids) : clone_mount(p, path, flags, ids, err);
	if (fd < 0 && !err->kind)
		return error_sys(err, fd, "image: %s cannot be shown to another user id", text_show(&t, sv_of(path)));
	return fd;
}

int root_image_open(const struct plan *p, struct root_image_trees *t, struct error *err)
{
	size_t n = root_image_trees(p);
	char folder[PATH_MAX];
	struct text_shown shown;

	for (t->n = 0; t->n < n; t->n++) {
		unsigned flags;
		const char *path = root_image_tree(p, t->n, folder, sizeof(folder), &flags);
		AUTO_FD source = sys_open_no_links(path, O_PATH);

		t->fds[t->n] = source < 0 ? source : sys_tree_clone(source, "", flags);
		if (t->fds[t->n] < 0)
			return error_sys(err, t->fds[t->n], "sandbox root: %s", text_show(&shown, sv_of(path)));
	}
	return 0;
}

/* What stands in the way in the root itself; the code tells it from what a policy denies. */
static int in_the_way(struct builder *b, int code, const char *path)
{
	struct text_shown t;

	(void)text_show(&t, sv_of(path));
	if (code == -ELOOP)
		(void)error_set(b->err, ERROR_DENIED,
				"image: %s: a link stands in the way of what is to be mounted there", t.s);
	else if (code == -EXDEV)
		(void)error_set(b->err, ERROR_DENIED, "image: %s leads to what is the sandbox's own", t.s);
	else
		(void)error_set(b->err, ERROR_DENIED, "image: %s: %s stands where %s is needed", t.s,
				code == -EISDIR ? "a folder" : "a file", code == -EISDIR ? "a file" : "a folder");
	b->err->code = -code;
	return -1;
}

static int fail(struct builder *b, int code, const char *what, const char *path)
{
	struct text_shown t;

	if (code == -ELOOP || code == -EXDEV || code == -ENOTDIR || code == -EISDIR)
		return in_the_way(b, code, path);
	return error_sys(b->err, code, "sandbox root: %s %s", what, text_show(&t, sv_of(path)));
}

/* All trees are open by now, so it does not matter what it hides. */
static int mount_base(struct builder *b)
{
	static const char *const any[] = {"/sys",  "/mnt", "/srv", "/media", "/opt",
					  "/boot", "/var", "/tmp", "/home",  NULL};
	const char *const here[] = {b->at, NULL}, *const *spots = b->at ? here : any;
	static const char *const folders[] = {"l", "u", "dev", "made", "masks", "root", NULL};
	size_t i;

	for (i = 0; spots[i]; i++)
		if (mount("cordon", spots[i], "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,nr_inodes=8192,mode=0755") == 0)
			break;
	if (!spots[i] || chdir(spots[i]) < 0)
		return error_sys(b->err, errno, "sandbox root: something to build on");
	(void)snprintf(b->base, sizeof(b->base), "%s/" ROOT_IMAGE_AT, spots[i]);
	for (i = 0; folders[i]; i++)
		if (mkdir(folders[i], 0755) < 0)
			return error_sys(b->err, errno, "sandbox root: %s", folders[i]);
	return 0;
}

static int attach_next(struct builder *b, const char *path)
{
	int r = sys_tree_attach(b->trees->fds[b->tree], AT_FDCWD, path);

	(void)close(b->trees->fds[b->tree]);
	b->trees->fds[b->tree++] = -1;
	return r < 0 ? error_sys(b->err, r, "sandbox root: %s", path) : 0;
}

static const char *last_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* What the file system itself makes in the upper folder belongs to who mounts it: to the image's root, whose ids we are
 * not; and with all that we may. */
static int mount_overlay(struct builder *b, const char *data)
{
	char work[PATH_MAX];
	int r = 0;

	(void)snprintf(work, sizeof(work), "u/%s", last_name(b->plan->image->work));
	if (b->places.give) {
		(void)setfsgid(b->places.gid);
		(void)setfsuid(b->places.uid);
		r = sys_keep_caps(UINT64_MAX);
	}
	if (r == 0)
		r = sys_takes_attributes(work);
	if (r == 0 && mount("overlay", "root", "overlay", MS_NOSUID | MS_NODEV, data) < 0)
		r = -errno;
	if (b->places.give) {
		(void)setfsuid(geteuid());
		(void)setfsgid(getegid());
	}
	return r;
}

/*
 * Nothing of it needs to outlast a crash of the machine, so it is not waited for (volatile). Redirections and
 * metadata-only copies are how a layer could name files of others: never followed.
 */
static int make_root(struct builder *b)
{
	const struct image_root *r = b->plan->image;
	AUTO_BUF data = {0};
	char path[32];
	size_t i, all;
	int code;

	buf_init(&data, 4000); /* the kernel takes a page */
	for (i = 0; r->layers[i]; i++) {
		(void)snprintf(path, sizeof(path), "l/%zu", i);
		if (mkdir(path, 0755) < 0)
			return error_sys(b->err, errno, "sandbox root: %s", path);
		if (attach_next(b, path) < 0)
			return -1;
		(void)buf_printf(&data, "%s%s", i ? ":" : "lowerdir=", path);
	}
	if (attach_next(b, "u") < 0)
		return -1;
	(void)buf_printf(&data, ",upperdir=u/%s,workdir=u/%s,userxattr,redirect_dir=nofollow,metacopy=off,index=off",
			 last_name(r->upper), last_name(r->work));
	all = data.n;
	(void)buf_add(&data, ",volatile", sizeof(",volatile"));
	if (buf_failed(&data) < 0)
		return error_set(b->err, ERROR_INPUT, "image: too many layers for one overlay");
	code = mount_overlay(b, data.p);
	if (code == -EINVAL) {
		data.p[all] = '\0';
		code = mount_overlay(b, data.p);
	}
	if (code == -EOPNOTSUPP)
		return error_set(b->err, ERROR_MISSING,
				 "image: what changes in it must be kept where files have user attributes (ext4, xfs, "
				 "btrfs; tmpfs from Linux 6.6 on)");
	if (code < 0) {
		(void)error_sys(b->err, code, "sandbox root: overlayfs of the image's layers");
		b->err->kind = ERROR_MISSING;
		return -1;
	}
	b->places.root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return b->places.root < 0 ? error_sys(b->err, errno, "sandbox root") : 0;
}

/* A mount of its own, so that what is mounted from it has its attributes. */
static int own_mount(struct builder *b, const char *path, unsigned flags)
{
	int r = sys_bind(path, path, false);

	if (r == 0)
		r = sys_mount_flags(path, flags, false);
	return r < 0 ? error_sys(b->err, r, "sandbox root: %s", path) : 0;
}

static int make_empty(const char *path, mode_t mode)
{
	return mknod(path, S_IFREG | mode, 0) < 0 ? -errno : 0;
}

static int make_masks(struct builder *b)
{
	if (mkdir("masks/folder", 0) < 0 || make_empty("masks/file", 0) < 0)
		return error_sys(b->err, errno, "sandbox root: masks");
	return own_mount(b, "masks", MOUNT_READ_ONLY | MOUNT_NO_DEV | MOUNT_NO_EXEC);
}

/* Names in /dev, from the tmpfs. */
static bool in_dev(const struct plan_op *op)
{
	return strncmp(op->target, "/dev/", 5) == 0;
}

static int make_device_place(const struct plan_op *op)
{
	const char *path = op->target + 1;

	switch (op->kind) {
	case PLAN_DEVICE:
		return make_empty(path, 0644);
	case PLAN_LINK:
		return symlink(op->source, path) < 0 ? -errno : 0;
	default:
		return mkdir(path, 0755) < 0 ? -errno : 0;
	}
}

static int mount_device(struct builder *b, const struct plan_op *op)
{
	const char *path = op->target + 1;
	char data[96];

	switch (op->kind) {
	case PLAN_DEVICE:
		return sys_bind(op->source, path, false);
	case PLAN_PTS:
		return mount("devpts", path, "devpts", MS_NOSUID | MS_NOEXEC,
			     "newinstance,ptmxmode=0666,mode=0600,max=64") < 0
			       ? -errno
			       : 0;
	case PLAN_TMPFS:
		(void)snprintf(data, sizeof(data), "size=%llu,nr_inodes=65536,mode=%o",
			       (unsigned long long)b->plan->tmp_size, op->mode);
		return mount("shm", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, data) < 0 ? -errno : 0;
	default:
		return 0;
	}
}

static int make_dev(struct builder *b)
{
	const struct plan *p = b->plan;
	AUTO_FD place = -1;
	AUTO_FD tree = -1;
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < p->n_ops; i++)
		if (in_dev(&p->ops[i]) && (r = make_device_place(&p->ops[i])) < 0)
			return fail(b, r, "make", p->ops[i].target);
	if (own_mount(b, "dev", MOUNT_READ_ONLY | MOUNT_NO_DEV) < 0)
		return -1;
	for (i = 0; i < p->n_ops; i++)
		if (in_dev(&p->ops[i]) && (r = mount_device(b, &p->ops[i])) < 0)
			return fail(b, r, "mount", p->ops[i].target);
	place = root_place_top(&b->places, "dev");
	if (place < 0)
		return fail(b, place, "find", "/dev");
	tree = sys_tree_clone(AT_FDCWD, "dev", 0);
	r = tree < 0 ? tree : sys_tree_attach(tree, place, "");
	return r < 0 ? fail(b, r, "mount", "/dev") : 0;
}

static int attach(struct builder *b, int tree, int place, const char *target)
{
	AUTO_FD mine = tree;
	AUTO_FD at = place;
	int r = place < 0 ? place : tree < 0 ? tree : sys_tree_attach(mine, at, "");

	return r < 0 ? fail(b, r, "mount", target) : 0;
}

/* Written once, and shown wherever it is wanted. */
static int write_made(struct builder *b, const struct plan_op *op, char path[32])
{
	AUTO_FD fd = -1;
	int r;

	(void)snprintf(path, 32, "made/%u", b->made++);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, op->mode);
	r = fd < 0 ? -errno : write_all(fd, op->source, op->size ? op->size : strlen(op->source));
	if (r == 0 && b->places.give && fchown(fd, b->places.uid, b->places.gid) < 0)
		r = -errno;
	return r < 0 ? fail(b, r, "make", op->target) : 0;
}

/* Over what the image has there, if it has it. */
static int show_made(struct builder *b, const char *made, const char *path)
{
	const struct plan *p = b->plan;
	struct stat st, ours;
	size_t i;

	for (i = 0; i < p->n_ops; i++) {
		AUTO_FD place = -1;

		if (p->ops[i].kind != PLAN_SHOW || strcmp(p->ops[i].source, made) != 0)
			continue;
		place = sys_open_in_root(b->places.root, p->ops[i].target, O_PATH);
		/* another name of what is covered already */
		if (place < 0 || fstat(place, &st) < 0 || !S_ISREG(st.st_mode) ||
		    (stat(path, &ours) == 0 && st.st_ino == ours.st_ino && st.st_dev == ours.st_dev))
			continue;
		if (attach(b, sys_tree_clone(AT_FDCWD, path, MOUNT_READ_ONLY | MOUNT_NO_DEV | MOUNT_NO_EXEC),
			   fd_take(&place), p->ops[i].target) < 0)
			return -1;
	}
	return 0;
}

static int put_file(struct builder *b, const struct plan_op *op)
{
	char path[32];

	if (write_made(b, op, path) < 0)
		return -1;
	if (attach(b, sys_tree_clone(AT_FDCWD, path, MOUNT_READ_ONLY | MOUNT_NO_DEV | MOUNT_NO_EXEC),
		   root_place(&b->places, op->target, ROOT_PLACE_FILE | ROOT_PLACE_FOLLOW), op->target) < 0)
		return -1;
	return show_made(b, op->target, path);
}

static int put_bind(struct builder *b, const struct plan_op *op)
{
	int tree = b->trees->fds[b->tree];

	b->trees->fds[b->tree++] = -1;
	return attach(b, tree, root_place(&b->places, op->target, op->folder ? ROOT_PLACE_FOLDER : ROOT_PLACE_FILE),
		      op->target);
}

/* First what was asked for: files of ours go over it, too. */
static int put_all(struct builder *b)
{
	const struct plan *p = b->plan;
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_BIND && put_bind(b, &p->ops[i]) < 0)
			return -1;
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_FILE && put_file(b, &p->ops[i]) < 0)
			return -1;
	return 0;
}

static int make_cwd(struct builder *b)
{
	struct root_places p = b->places;
	AUTO_FD fd = -1;

	if (strcmp(b->plan->cwd, "/") == 0)
		return 0;
	p.made = NULL; /* it stays, as WORKDIR of a Dockerfile has it */
	fd = root_place(&p, b->plan->cwd, ROOT_PLACE_FOLDER | ROOT_PLACE_FOLLOW);
	return fd < 0 ? fail(b, fd, "the folder to start in,", b->plan->cwd) : 0;
}

static int mount_proc(struct builder *b)
{
	const struct plan *p = b->plan;
	AUTO_FD place = root_place_top(&b->places, "proc");
	char path[PATH_MAX];
	size_t i;
	int r;

	if (place < 0)
		return fail(b, place, "find", "/proc");
	if (mount("proc", "root/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		(void)error_sys(b->err, errno, "sandbox root: mount /proc");
		if (errno == EPERM)
			(void)error_set(b->err, ERROR_MISSING,
					"an image needs a /proc of its own, which the container around us does not "
					"allow; run it outside, or with an unmasked /proc");
		return -1;
	}
	for (i = 0; i < p->n_ops; i++) {
		if (p->ops[i].kind != PLAN_MASK)
			continue;
		(void)snprintf(path, sizeof(path), "root%s", p->ops[i].target);
		r = sys_bind(p->ops[i].folder ? "masks/folder" : "masks/file", path, false);
		if (r < 0 && r != -ENOENT)
			return fail(b, r, "hide", p->ops[i].target);
	}
	return 0;
}

static int enter(struct builder *b)
{
	int r = fchdir(b->places.root) < 0 ? -errno : sys_pivot_root(".", ".");

	if (r < 0)
		return error_sys(b->err, r, "sandbox root: pivot_root");
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return error_sys(b->err, errno, "sandbox root: leave the host's tree");
	return 0;
}

/* cordon-init is started from there by an id that is nobody's in the image, and whoever filled the root may have shut
 * the way: from the place up to the root, everybody may pass. */
static int open_way(struct builder *b, int place)
{
	AUTO_FD at = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat root, st;
	unsigned left;

	if (at < 0 || fstat(b->places.root, &root) < 0)
		return -errno;
	for (left = PATH_MAX / 2; left; left--) {
		int up;

		if (fstat(at, &st) < 0 || ((st.st_mode & 0111) != 0111 && fchmod(at, (st.st_mode & 07777) | 0111) < 0))
			return -errno;
		if (st.st_dev == root.st_dev && st.st_ino == root.st_ino)
			return 0;
		up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return -errno;
		(void)close(at);
		at = up;
	}
	return -ELOOP;
}

/* Is it a text that whoever reads it line by line comes to the end of? */
static bool is_list(int root, const char *path)
{
	AUTO_FD at = sys_open_in_root(root, path, O_PATH);
	AUTO_FD fd = -1;
	char bytes[8192];
	size_t line = 0;
	struct stat st;
	ssize_t n, i;

	/* a link that leads nowhere yet may lead into /proc or /dev */
	if (at == -ENOENT)
		at = sys_open_in_root(root, path, O_PATH | O_NOFOLLOW);
	if (at < 0)
		return at == -ENOENT || at == -ENOTDIR;
	if (fstat(at, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > LIST_MAX)
		return false;
	fd = sys_open_in_root(root, path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return false;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		for (i = 0; i < n; i++) {
			line = bytes[i] == '\n' ? 0 : line + 1;
			if (line >= LINE_BYTES)
				return false;
		}
	return n == 0;
}

/* Container runtimes read the image's users when they start: they wait for a pipe, and stumble over what is no list.
 * Whoever filled the root may have left that there. */
static int check_lists(struct builder *b)
{
	static const char *const lists[] = {"/etc/passwd", "/etc/group"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		if (!is_list(b->places.root, lists[i])) {
			(void)error_set(b->err, ERROR_DENIED,
					"image: %s is no list that container runtimes can read; it must be a file of "
					"at most %d MiB, with lines of less than %d KiB",
					lists[i], LIST_MAX >> 20, LINE_BYTES >> 10);
			b->err->code = EISDIR; /* as what stands in the way */
			return -1;
		}
	return 0;
}

/* For what a runtime mounts itself. */
static int make_wanted(struct builder *b)
{
	static const char *const top[] = {"proc", "dev"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(top); i++) {
		AUTO_FD fd = root_place_top(&b->places, top[i]);

		if (fd < 0)
			return fail(b, fd, "find", top[i]);
	}
	for (i = 0; b->wanted[i]; i++) {
		AUTO_FD fd = strchr(b->wanted[i] + 1, '/') ? root_place(&b->places, b->wanted[i], ROOT_PLACE_FOLDER)
							   : root_place_top(&b->places, b->wanted[i] + 1);

		int r = fd >= 0 && i == 0 ? open_way(b, fd) : fd;

		if (r < 0)
			return fail(b, r, "make", b->wanted[i]);
	}
	return chdir("/") < 0 ? error_sys(b->err, errno, "sandbox root") : 0;
}

static int build(struct builder *b, int (*const *stages)(struct builder *), size_t n)
{
	size_t i;
	int r = 0;

	b->places.base = b->base;
	for (i = 0; r == 0 && i < n; i++)
		r = stages[i](b);
	for (i = b->tree; i < b->trees->n; i++)
		if (b->trees->fds[i] >= 0)
			(void)close(b->trees->fds[i]);
	if (b->places.root >= 0)
		(void)close(b->places.root);
	return r;
}

int root_image_build(const struct plan *p, const struct root_image_trees *t, struct buf *made, struct error *err)
{
	static int (*const stages[])(struct builder *) = {mount_base, make_root, make_masks, put_all,
							  make_cwd,   make_dev,  mount_proc, enter};
	struct builder b = {.plan = p, .trees = t, .places = {.root = -1, .made = made}, .err = err};

	return build(&b, stages, ARRAY_LEN(stages));
}

int root_image_lay(const struct plan *p, const struct root_image_trees *t, enum root_image_ids ids, const char *at,
		   const char *const *places, struct buf *made, struct error *err)
{
	static int (*const stages[])(struct builder *) = {mount_base, make_root,   put_all,
							  make_cwd,   check_lists, make_wanted};
	const struct image_ids *i = &p->image->ids;
	struct builder b = {.plan = p,
			    .trees = t,
			    .places = {.root = -1, .made = made, .uid = i->zero_uid, .gid = i->zero_gid},
			    .at = at,
			    .wanted = places,
			    .err = err};

	b.places.give = ids == ROOT_IMAGE_HOST;
	return build(&b, stages, ARRAY_LEN(stages));
}
