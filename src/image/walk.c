#include "image/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "image/ids.h"
#include "image/limit.h"
#include "image/tar.h"
#include "sys/tree.h"

enum { DEPTH_MAX = 256, CHUNK = 256 * 1024, PIPE_SIZE = 1 << 20, NOBODY = 65534 };

/* A file with several names, by its first one. */
struct linked {
	struct linked *next;
	ino_t inode;
	char path[];
};

enum { BUCKETS = 4096 };
static const uint64_t HOLES_MAX = (uint64_t)16 << 30;

struct walk {
	bool overlay, foreign_is_root;
	int out; /* -1: only the digest counts */
	dev_t dev;
	struct sha256 digest;
	struct buf head; /* of the entry */
	struct buf path;
	struct arena *values; /* of the entry's attributes */
	char *chunk;
	struct linked *linked[BUCKETS];
	uint64_t holes; /* bytes that take no room on the disk, and time and room wherever the layer is read */
	struct walk_result result;
	struct error *err;
};

static int fail(struct walk *w, int code, const char *what)
{
	struct text_shown shown;

	return code ? error_sys(w->err, code, "%s: %s", text_show(&shown, buf_view(&w->path)), what)
		    : error_set(w->err, ERROR_INPUT, "%s: %s", text_show(&shown, buf_view(&w->path)), what);
}

static int emit(struct walk *w, const void *p, size_t n)
{
	int r;

	sha256_add(&w->digest, p, n);
	r = w->out < 0 ? 0 : write_all(w->out, p, n);
	return r < 0 ? fail(w, r, "cannot be handed on") : 0;
}

static int emit_zeros(struct walk *w, size_t n)
{
	static const char zeros[TAR_END];

	return emit(w, zeros, n);
}

static int emit_entry(struct walk *w, const struct tar_entry *e)
{
	buf_clear(&w->head);
	tar_put(&w->head, e);
	if (buf_failed(&w->head))
		return fail(w, 0, "has more attributes than an archive can hold");
	return emit(w, w->head.p, w->head.n);
}

/* Exactly as many bytes as were announced. */
static int emit_data(struct walk *w, int fd, uint64_t size)
{
	uint64_t left = size;
	ssize_t n;

	while (left) {
		n = read(fd, w->chunk, left < CHUNK ? (size_t)left : CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(w, errno, "cannot be read");
		if (n == 0)
			return fail(w, 0, "became shorter while it was read; nobody may work in the folder meanwhile");
		if (emit(w, w->chunk, (size_t)n) < 0)
			return -1;
		left -= (uint64_t)n;
	}
	w->result.bytes += size;
	return emit_zeros(w, tar_pad(size));
}

static int by_name(const void *a, const void *b)
{
	const struct tar_xattr *x = a, *y = b;
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int r = memcmp(x->name.p, y->name.p, n);

	return r ? r : x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

/* What a layer must not have, since it would mean another layer's files. */
static bool leads_elsewhere(const char *name)
{
	return strcmp(name, "user.overlay.redirect") == 0 || strcmp(name, "user.overlay.metacopy") == 0;
}

static bool is_carried(const char *name)
{
	return strncmp(name, "user.", 5) == 0 && strncmp(name, "user.overlay.", 13) != 0;
}

static int read_xattr(struct walk *w, int fd, const char *name, struct tar_entry *e)
{
	ssize_t n = fgetxattr(fd, name, NULL, 0);
	char *value;

	if (n < 0)
		return errno == ENODATA ? 0 : fail(w, errno, "its attributes cannot be read");
	value = arena_alloc(w->values, (size_t)n + 1);
	if (!value || e->n_xattrs == TAR_MAX_XATTRS)
		return fail(w, 0, "has more attributes than an archive can hold");
	n = fgetxattr(fd, name, value, (size_t)n + 1);
	if (n < 0)
		return fail(w, errno, "its attributes cannot be read");
	e->xattrs[e->n_xattrs].name = sv_of(arena_str(w->values, sv_of(name)));
	e->xattrs[e->n_xattrs++].value = sv_n(value, (size_t)n);
	return 0;
}

static int read_xattrs(struct walk *w, int fd, struct tar_entry *e, bool *ret_opaque)
{
	char *list = w->chunk, value[4]; /* as much as the kernel ever lists fits */
	ssize_t n = flistxattr(fd, list, CHUNK);
	const char *p;

	*ret_opaque = false;
	arena_reset(w->values);
	/* unseen, one could make the layer mean other files than its digest stands for */
	if (n < 0 && errno != ENOTSUP && errno != ENOSYS)
		return fail(w, errno, "its attributes cannot be read");
	for (p = list; n > 0 && p < list + n; p += strlen(p) + 1) {
		if (w->overlay && leads_elsewhere(p))
			return fail(w, 0, "is no file of its own: overlayfs would take it from elsewhere");
		if (w->overlay && strcmp(p, "user.overlay.opaque") == 0)
			*ret_opaque = fgetxattr(fd, p, value, sizeof(value)) == 1 && value[0] == 'y';
		if (is_carried(p) && read_xattr(w, fd, p, e) < 0)
			return -1;
	}
	qsort(e->xattrs, e->n_xattrs, sizeof(e->xattrs[0]), by_name);
	return 0;
}

static void read_facts(const struct walk *w, const struct stat *st, struct tar_entry *e)
{
	e->mode = st->st_mode & 07777;
	/* in a user's folder, who is neither that user nor one of the ids given to it is most likely root */
	e->uid = w->foreign_is_root && st->st_uid == NOBODY ? 0 : st->st_uid;
	e->gid = w->foreign_is_root && st->st_gid == NOBODY ? 0 : st->st_gid;
	e->mtime = st->st_mtime;
}

/* The first name of a file that has several; NULL: this is it. */
static const char *first_name(struct walk *w, const struct stat *st)
{
	struct linked **at = &w->linked[st->st_ino % BUCKETS], *l;

	for (l = *at; l; l = l->next)
		if (l->inode == st->st_ino)
			return l->path;
	l = malloc(sizeof(*l) + w->path.n + 1);
	if (!l)
		return NULL;
	l->inode = st->st_ino;
	memcpy(l->path, w->path.p, w->path.n + 1);
	l->next = *at;
	*at = l;
	return NULL;
}

static int put_file(struct walk *w, int dir, const char *name, const struct stat *seen)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct tar_entry e = {.type = TAR_FILE, .path = buf_view(&w->path)};
	struct stat st;
	const char *first;
	bool opaque;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(w, errno, "cannot be read");
	if (!S_ISREG(st.st_mode) || st.st_ino != seen->st_ino)
		return fail(w, 0, "was replaced while it was read; nobody may work in the folder meanwhile");
	read_facts(w, &st, &e);
	if (read_xattrs(w, fd, &e, &opaque) < 0)
		return -1;
	first = st.st_nlink > 1 ? first_name(w, &st) : NULL;
	if (first) {
		e.type = TAR_HARD_LINK;
		e.link = sv_of(first);
		e.n_xattrs = 0;
		return emit_entry(w, &e);
	}
	e.size = (uint64_t)st.st_size;
	w->holes += e.size > (uint64_t)st.st_blocks * 512 ? e.size - (uint64_t)st.st_blocks * 512 : 0;
	if (w->holes > HOLES_MAX)
		return fail(w, 0, "is too large: files with holes of more than 16 GiB in all are no layer");
	return emit_entry(w, &e) < 0 ? -1 : emit_data(w, fd, e.size);
}

static int put_link(struct walk *w, int dir, const char *name, const struct stat *st)
{
	struct tar_entry e = {.type = TAR_LINK, .path = buf_view(&w->path)};
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n <= 0 || (size_t)n == sizeof(target))
		return fail(w, n < 0 ? errno : ENAMETOOLONG, "cannot be read");
	read_facts(w, st, &e);
	e.mode = 0777;
	e.link = sv_n(target, (size_t)n);
	return emit_entry(w, &e);
}

/* An empty file whose name says it. */
static int put_whiteout(struct walk *w, size_t parent, const char *name)
{
	struct tar_entry e = {.type = TAR_FILE};
	AUTO_BUF path = {0};

	buf_init(&path, TAR_MAX_PATH);
	(void)buf_sv(&path, sv_n(w->path.p, parent));
	(void)buf_printf(&path, "%s.wh.%s", parent ? "/" : "", name);
	if (buf_failed(&path))
		return fail(w, 0, "is too long");
	e.path = buf_view(&path);
	return emit_entry(w, &e);
}

static int put_folder(struct walk *w, int dir, unsigned depth);

static int put_subfolder(struct walk *w, int dir, const char *name, unsigned depth)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return fail(w, errno, "cannot be read");
	return depth == DEPTH_MAX ? fail(w, 0, "is too deep") : put_folder(w, fd, depth + 1);
}

static int put_other(struct walk *w, const struct stat *st, size_t parent, const char *name)
{
	struct tar_entry e = {.type = TAR_FIFO, .path = buf_view(&w->path)};

	if (S_ISFIFO(st->st_mode)) {
		read_facts(w, st, &e);
		return emit_entry(w, &e);
	}
	if (w->overlay && S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
		return put_whiteout(w, parent, name);
	w->result.left_out++;
	return 0;
}

static int put_one(struct walk *w, int dir, const char *name, unsigned depth)
{
	size_t parent = w->path.n;
	struct stat st;
	int r;

	/* what an archive would say with it is not what is meant */
	if (strncmp(name, ".wh.", 4) == 0)
		return fail(w, 0, "holds a name that begins with .wh., which no layer can hold");
	if (buf_printf(&w->path, "%s%s", parent ? "/" : "", name) < 0)
		return error_set(w->err, ERROR_INPUT, "a path in the folder is longer than %d bytes", TAR_MAX_PATH);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = fail(w, errno, "cannot be read");
	else if (S_ISREG(st.st_mode))
		r = put_file(w, dir, name, &st);
	else if (S_ISLNK(st.st_mode))
		r = put_link(w, dir, name, &st);
	else if (S_ISDIR(st.st_mode))
		r = put_subfolder(w, dir, name, depth);
	else
		r = put_other(w, &st, parent, name);
	w->path.n = parent;
	w->path.p[parent] = '\0';
	return r;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t n)
{
	while (n)
		free(names[--n]);
	free(names);
}

/* All names in the folder, sorted; the caller frees them. */
static int list_names(int dir, char ***ret, size_t *ret_n)
{
	DIR *d = sys_list(dir);
	char **names = NULL, **more;
	size_t n = 0, cap = 0;
	struct dirent *e;
	bool ok = d != NULL;
	int code;

	while (ok && (errno = 0, e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (n == cap) {
			cap = cap ? 2 * cap : 32;
			more = reallocarray(names, cap, sizeof(*names));
			ok = more != NULL;
			names = ok ? more : names;
		}
		if (ok)
			ok = (names[n] = strdup(e->d_name)) != NULL;
		n += ok;
	}
	code = ok && !errno ? 0 : errno ? -errno : -ENOMEM;
	if (d)
		(void)closedir(d);
	if (code < 0) {
		free_names(names, n);
		return code;
	}
	if (n)
		qsort(names, n, sizeof(*names), by_bytes);
	*ret = names;
	*ret_n = n;
	return 0;
}

/* Its own entry comes first; what lower layers have in it is gone before what it has itself. */
static int put_folder(struct walk *w, int dir, unsigned depth)
{
	struct tar_entry e = {.type = TAR_FOLDER, .path = w->path.n ? buf_view(&w->path) : sv_of(".")};
	char **names = NULL;
	size_t n = 0, i;
	struct stat st;
	bool opaque;
	int r;

	if (fstat(dir, &st) < 0)
		return fail(w, errno, "cannot be read");
	read_facts(w, &st, &e);
	if (read_xattrs(w, dir, &e, &opaque) < 0 || emit_entry(w, &e) < 0 ||
	    (opaque && put_whiteout(w, w->path.n, ".wh..opq") < 0))
		return -1;
	if (st.st_dev != w->dev) {
		w->result.left_out++;
		return 0;
	}
	r = list_names(dir, &names, &n);
	if (r < 0)
		return fail(w, r, "cannot be read");
	for (i = 0; r == 0 && i < n; i++)
		r = put_one(w, dir, names[i], depth);
	free_names(names, n);
	return r;
}

static void walk_done(struct walk *w)
{
	struct linked *l, *next;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		for (l = w->linked[i]; l; l = next) {
			next = l->next;
			free(l);
		}
	buf_done(&w->head);
	buf_done(&w->path);
	arena_free(w->values);
	free(w->chunk);
}

static int walk(struct walk *w, int folder)
{
	unsigned char digest[SHA256_SIZE];
	struct stat st;
	int r = -1;

	buf_init(&w->head, (size_t)4 << 20);
	buf_init(&w->path, TAR_MAX_PATH - 64);
	w->values = arena_new();
	w->chunk = malloc(CHUNK);
	sha256_init(&w->digest);
	if (!w->values || !w->chunk || buf_str(&w->path, "") < 0 || fstat(folder, &st) < 0) {
		(void)error_sys(w->err, errno, "the folder");
	} else {
		w->dev = st.st_dev;
		r = put_folder(w, folder, 0);
		if (r == 0)
			r = emit_zeros(w, TAR_END);
		memcpy(w->result.digest, "sha256:", 7);
		sha256_done(&w->digest, digest);
		sha256_hex(digest, w->result.digest + 7);
	}
	walk_done(w);
	return r;
}

/* ---- in a child ---- */

struct report {
	int r;
	struct walk_result result;
	struct error err;
};

struct job {
	int folder, out, report;
	int reader; /* of out, our parent's: as long as we have it, too, nobody tells us that there is none any more.
		       -1: there is none */
	bool overlay, foreign_is_root;
};

static int child(void *arg)
{
	const struct job *j = arg;
	struct report report = {0};
	struct walk *w = calloc(1, sizeof(*w));

	if (j->reader >= 0)
		(void)close(j->reader);
	(void)signal(SIGPIPE, SIG_IGN);
	if (w) {
		w->overlay = j->overlay;
		w->foreign_is_root = j->foreign_is_root;
		w->out = j->out;
		w->err = &report.err;
		report.r = walk(w, j->folder);
		report.result = w->result;
	} else {
		report.r = error_sys(&report.err, ENOMEM, "the folder");
	}
	free(w);
	return write_all(j->report, &report, sizeof(report)) < 0;
}

static int start(const struct image_ids *ids, bool in_ids, struct job *j, struct image_walk *ret, struct error *err)
{
	int report[2];
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	j->report = report[1];
	if (in_ids) {
		pid = image_ids_fork(ids, 0, child, j, err);
	} else {
		pid = fork();
		if (pid == 0)
			_exit(child(j));
		if (pid < 0)
			(void)error_sys(err, errno, "fork");
	}
	(void)close(report[1]);
	if (pid < 0) {
		(void)close(report[0]);
		return -1;
	}
	ret->pid = pid;
	ret->report = report[0];
	return 0;
}

int image_walk_end(struct image_walk *w, bool kill_it, struct walk_result *ret, struct error *err)
{
	struct report report = {0};
	size_t have = 0;
	ssize_t n = 1;

	if (w->out >= 0)
		(void)close(w->out);
	if (kill_it)
		(void)kill(w->pid, SIGKILL);
	while (have < sizeof(report) && n != 0) {
		n = read(w->report, (char *)&report + have, sizeof(report) - have);
		if (n < 0 && errno != EINTR)
			break;
		have += n > 0 ? (size_t)n : 0;
	}
	(void)close(w->report);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*w = (struct image_walk){.out = -1, .report = -1};
	if (have < sizeof(report))
		return error_set(err, ERROR_SYSTEM, "whoever read the folder ended early");
	if (report.r < 0)
		*err = report.err;
	else
		*ret = report.result;
	return report.r;
}

int image_walk_digest(const struct image_ids *ids, const char *path, int64_t until_ms, struct walk_result *ret,
		      struct error *err)
{
	AUTO_FD folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct job j = {.folder = folder, .out = -1, .reader = -1, .overlay = true};
	struct image_walk w = {.out = -1};
	struct pollfd said = {.events = POLLIN};
	struct error ignored = {0};

	if (folder < 0)
		return error_sys(err, errno, "%s", path);
	if (start(ids, true, &j, &w, err) < 0)
		return -1;
	said.fd = w.report;
	/* holes cost no room, and time here */
	while (until_ms && poll(&said, 1, left_ms(until_ms)) == 0)
		if (now_ms() >= until_ms) {
			(void)image_walk_end(&w, true, ret, &ignored);
			return limit_fail_time(err);
		}
	return image_walk_end(&w, false, ret, err);
}

int image_walk_start(const struct image_ids *ids, int folder, struct image_walk *ret, struct error *err)
{
	struct job j = {.folder = folder, .foreign_is_root = geteuid() != 0};
	struct image_walk w = {.out = -1};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	(void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
	j.out = ends[1];
	j.reader = ends[0];
	if (start(ids, geteuid() != 0, &j, &w, err) < 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		return -1;
	}
	(void)close(ends[1]);
	w.out = ends[0];
	*ret = w;
	return 0;
}
