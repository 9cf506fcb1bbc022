#include "task/volume_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/ids.h"
#include "image/merged.h"
#include "sys/beneath.h"
#include "sys/copy_bytes.h"
#include "sys/tree.h"
#include "task/carry_view.h"

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, LINKED = 1024, IN_THE_WAY = 124, NAME_BYTES = 1024 };

/* A file of several names, by the first that was copied. */
struct linked {
	struct linked *next;
	ino_t inode;
	char path[]; /* of its copy, below the volume's */
};

struct work {
	const struct volume_copy *v;
	struct layered root;
	uint64_t bytes;
	struct linked *linked[LINKED];
	int to;		   /* the volume's copy */
	char at[PATH_MAX]; /* the name at hand, below it */
	size_t len;
};

/* Somebody else was quicker: it is gone, or is another thing now. */
static bool is_changed(int code)
{
	return code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENXIO || code == ESTALE;
}

static int set_facts(int fd, const struct stat *st)
{
	struct timespec times[2] = {st->st_mtim, st->st_mtim};

	if (fchown(fd, st->st_uid, st->st_gid) < 0 || fchmod(fd, st->st_mode & 07777) < 0 || futimens(fd, times) < 0)
		return -errno;
	return 0;
}

static int count(struct work *w, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	w->bytes += (uint64_t)st.st_blocks * 512;
	return w->bytes > w->v->limit ? -EFBIG : 0;
}

static int copy_bytes(struct work *w, int in, int to, const char *name, const struct stat *st)
{
	AUTO_FD out = -1;
	bool cloned;
	int r;

	/* before it is copied: there may be no room for more than the limit. Holes take none */
	if ((uint64_t)st->st_blocks * 512 > w->v->limit - w->bytes)
		return -EFBIG;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = sys_copy_bytes(in, out, (uint64_t)st->st_size, &cloned);
	if (r == 0)
		r = count(w, out);
	return r < 0 ? r : set_facts(out, st);
}

/* A second name takes no room. */
static int copy_once(struct work *w, int in, int to, const char *name, const struct stat *st)
{
	struct linked **at = &w->linked[st->st_ino % LINKED], *l = *at;
	int r;

	while (l && l->inode != st->st_ino)
		l = l->next;
	if (l && linkat(w->to, l->path, to, name, 0) == 0)
		return 0;
	r = copy_bytes(w, in, to, name, st);
	if (r < 0 || l)
		return r;
	l = malloc(sizeof(*l) + w->len + 1);
	if (!l)
		return -ENOMEM;
	*l = (struct linked){.next = *at, .inode = st->st_ino};
	memcpy(l->path, w->at, w->len + 1);
	*at = l;
	return 0;
}

/* Which file it is, is said by the one that was opened: services may go on, and put another there. */
static int copy_file(struct work *w, int from, int to, const char *name)
{
	AUTO_FD in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return is_changed(errno) ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	return st.st_nlink > 1 ? copy_once(w, in, to, name, &st) : copy_bytes(w, in, to, name, &st);
}

static int copy_link(int from, int to, const char *name, const struct stat *st)
{
	struct timespec times[2] = {st->st_mtim, st->st_mtim};
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return is_changed(errno) || errno == EINVAL ? 0 : -errno;
	text[n] = '\0';
	if (symlinkat(text, to, name) < 0 || fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
	    utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

static int copy_entries(struct work *w, int from, int to, unsigned depth);

static int copy_folder(struct work *w, int from, int to, const char *name, unsigned depth)
{
	AUTO_FD in = openat(from, name, FOLDER);
	AUTO_FD out = -1;
	struct stat st;
	int r;

	if (in < 0 || fstat(in, &st) < 0)
		return is_changed(errno) ? 0 : -errno;
	if (mkdirat(to, name, 0700) < 0 || (out = openat(to, name, FOLDER)) < 0)
		return -errno;
	r = copy_entries(w, in, out, depth + 1);
	if (r == 0)
		r = count(w, out);
	return r < 0 ? r : set_facts(out, &st);
}

static int copy_entry(struct work *w, int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return is_changed(errno) ? 0 : -errno;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return copy_file(w, from, to, name);
	case S_IFDIR:
		return depth < VOLUME_DEPTH ? copy_folder(w, from, to, name, depth) : 0;
	case S_IFLNK:
		return copy_link(from, to, name, &st);
	case S_IFIFO:
	case S_IFSOCK:
		return mknodat(to, name, (st.st_mode & S_IFMT) | 0600, 0) < 0 ? -errno : 0;
	default:
		return 0;
	}
}

/* With the name's path as the one at hand. */
static int copy_name(struct work *w, int from, int to, const char *name, unsigned depth)
{
	size_t len = w->len, n = strlen(name);
	int r;

	if (len + n + 2 > sizeof(w->at))
		return 0; /* as deep as what is too deep */
	/* a name takes room, too; and whoever makes new ones as fast as they are copied comes to an end */
	w->bytes += NAME_BYTES;
	if (w->bytes > w->v->limit)
		return -EFBIG;
	if (len)
		w->at[w->len++] = '/';
	memcpy(w->at + w->len, name, n + 1);
	w->len += n;
	r = copy_entry(w, from, to, name, depth);
	w->at[w->len = len] = '\0';
	return r;
}

static int copy_entries(struct work *w, int from, int to, unsigned depth)
{
	DIR *d = sys_list(from);
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_name(w, dirfd(d), to, e->d_name, depth);
	(void)closedir(d);
	return r;
}

/* Steps into a folder above the target; one that the agent did not touch is made as the image has it. at and view are
 * replaced. -ENOTDIR: it is none. */
static int step_into(int *at, struct layered *view, const char *name)
{
	struct layered below = {0};
	struct stat st;
	int fd, next, r;

	layered_stat(view, name, &st, &fd);
	/* where the image has a link, a folder of that name would hide what it leads to */
	if (st.st_mode && !S_ISDIR(st.st_mode) && faccessat(*at, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return -ENOTDIR;
	r = mkdirat(*at, name, 0755) < 0 ? -errno : 0;
	if (r < 0 && r != -EEXIST)
		return r;
	next = openat(*at, name, FOLDER);
	if (next < 0)
		return errno == ELOOP ? -ENOTDIR : -errno;
	if (r == 0 && S_ISDIR(st.st_mode) && set_facts(next, &st) < 0)
		r = -errno;
	else
		r = layered_enter(view, name, &below);
	if (r < 0) {
		(void)close(next);
		return r;
	}
	(void)close(*at);
	layered_done(view);
	*at = next;
	*view = below;
	return 0;
}

/* The folder above the target, and the target's own name. */
static int find_parent(struct work *w, char name[NAME_MAX + 1])
{
	AUTO_FD at = openat(w->v->upper, ".", FOLDER);
	const char *p = w->v->target + 1;
	size_t n;
	int r;

	for (;; p += n + 1) {
		n = strcspn(p, "/");
		if (at < 0)
			return -errno;
		if (n == 0 || n > NAME_MAX)
			return -EINVAL;
		memcpy(name, p, n);
		name[n] = '\0';
		if (!p[n])
			return fd_take(&at);
		r = step_into(&at, &w->root, name);
		if (r < 0)
			return r;
	}
}

static int put(struct work *w)
{
	char name[NAME_MAX + 1];
	AUTO_FD parent = find_parent(w, name);
	AUTO_FD out = -1;
	struct stat st;
	int r;

	if (parent < 0)
		return parent;
	sys_remove_tree(parent, name);
	if (mkdirat(parent, name, 0700) < 0 || (out = openat(parent, name, FOLDER)) < 0 || fstat(w->v->volume, &st) < 0)
		return -errno;
	w->to = out;
	r = copy_entries(w, w->v->volume, out, 0);
	if (r == 0)
		r = fsetxattr(out, "user.overlay.opaque", "y", 1, 0) < 0 ? -errno : set_facts(out, &st);
	/* half of it would be taken for all of it */
	if (r < 0)
		sys_remove_tree(parent, name);
	return r;
}

/* The exit status is what went wrong: an errno, all of which are below IN_THE_WAY, or that. */
static int in_child(void *arg)
{
	struct work *w = arg;
	struct rlimit files;
	int r;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	r = put(w);
	return r == -ENOTDIR ? IN_THE_WAY : r < 0 ? (-r < IN_THE_WAY ? -r : EIO) : 0;
}

/* Its exit status; EINTR where it has none, because somebody wants us to end or it was killed. */
static int await(pid_t pid, int over, int stop)
{
	struct pollfd p[] = {{.fd = over, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
	int status = 0;

	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[1].revents)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int volume_copy(const struct volume_copy *v, struct error *err)
{
	struct work w = {.v = v};
	int r = layered_open(&w.root, v->layers), over[2];
	pid_t pid;

	if (r < 0)
		return error_sys(err, r, "the image's layers");
	if (pipe2(over, O_CLOEXEC) < 0) {
		layered_done(&w.root);
		return error_sys(err, errno, "pipe");
	}
	pid = image_ids_fork(v->ids, 0, in_child, &w, err);
	layered_done(&w.root);
	/* the child's end closes with it */
	(void)close(over[1]);
	r = pid < 0 ? -1 : await(pid, over[0], *v->stop);
	(void)close(over[0]);
	switch (r) {
	case -1:
		return -1;
	case 0:
		return VOLUME_COPIED;
	case IN_THE_WAY:
		return VOLUME_IN_THE_WAY;
	case EFBIG:
		return VOLUME_TOO_LARGE;
	default:
		return error_sys(err, r, "what the volume at %s holds", v->target);
	}
}

struct fill {
	const char *target;
	uint64_t limit;
};

static int fill(void *arg, int root, int volume, struct error *err)
{
	const struct fill *f = arg;
	const struct volume_copy v = {.limit = f->limit};
	struct work w = {.v = &v};
	AUTO_FD from = sys_open_beneath(root, f->target + 1, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	AUTO_FD to = openat(volume, ".", FOLDER);
	struct stat st;
	int r;

	if (from < 0 || to < 0 || !sys_is_empty(to))
		return 0;
	w.to = to;
	r = copy_entries(&w, from, to, 0);
	if (r == 0)
		r = fstat(from, &st) < 0 ? -errno : set_facts(to, &st);
	if (r == -EFBIG)
		return error_set(err, ERROR_INPUT,
				 "the volume at %s: what the image has there is more than the task may store",
				 f->target);
	return r < 0 ? error_sys(err, r, "the volume at %s: what the image has there", f->target) : 0;
}

int volume_fill(int volume, const char *target, const char *const *layers, const struct image_ids *ids, uint64_t limit,
		struct error *err)
{
	const struct merged_tree tree = {.layers = layers};
	struct fill f = {target, limit};
	struct merged m;

	return merged_start(ids, &tree, volume, fill, &f, &m, err) < 0 ? -1 : merged_end(&m, NULL, err);
}

int volume_uncopy(int upper, const char *target, const struct image_ids *ids, struct error *err)
{
	const char *slash = strrchr(target, '/');
	char parent[PATH_MAX];
	AUTO_FD in = -1;

	if (slash - target >= PATH_MAX)
		return error_sys(err, ENAMETOOLONG, "a volume");
	memcpy(parent, target, (size_t)(slash - target));
	parent[slash - target] = '\0';
	in = sys_open_beneath(upper, parent[0] ? parent + 1 : ".", O_RDONLY | O_DIRECTORY, 0);
	/* one that was copied into another went with it */
	return in < 0 ? 0 : image_ids_remove(ids, in, slash + 1, err);
}
