#include "task/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "sys/copy_bytes.h"
#include "sys/tree.h"
#include "task/stage_names.h"

const struct stage_limits stage_default_limits = {
	.bytes = 4ULL << 30, .file_bytes = 2ULL << 30, .entries = 100000, .depth = 64};

enum { DEPTH_MAX = 256 };

/* A link, or a file of several names, to be judged when all names are known. */
struct noted {
	struct noted *next;
	const char *path;
	const char *target; /* NULL: a file */
	dev_t dev;
	ino_t ino;
	nlink_t names;
};

struct walk {
	const struct stage_limits *limits;
	struct stage_stats stats;
	struct modes *modes; /* NULL: nobody asks */
	struct problems *problems;
	struct error *err;
	struct arena *arena;
	struct noted *links, *shared;
	size_t n_shared;
	uid_t caller, owner;
	uint64_t entries;
	bool refused;	     /* nothing more is copied */
	bool full;	     /* nothing more is looked at */
	char path[PATH_MAX]; /* of what is at hand, below the top */
	size_t len;
};

static const char *show(const struct walk *w, struct text_shown *t)
{
	return w->len ? text_show(t, sv_n(w->path, w->len)) : "the task folder";
}

/* Notes what is wrong with the path at hand. Always 0: the walk goes on. */
static int refuse(struct walk *w, const char *what)
{
	struct text_shown t;

	w->refused = true;
	problems_add(w->problems, "%s: %s", show(w, &t), what);
	return 0;
}

static int unreadable(struct walk *w, int code)
{
	struct text_shown t;

	w->refused = true;
	problems_add(w->problems, "%s: cannot be read: %s", show(w, &t), strerror(code));
	return 0;
}

static int changed(struct walk *w)
{
	return refuse(w, "changed while it was copied; leave the task folder alone meanwhile");
}

/* The copy itself went wrong: no space, for instance. Ends the walk. */
static int fail(struct walk *w, int code)
{
	struct text_shown t;

	return error_sys(w->err, code, "copying %s", show(w, &t));
}

/* A name that could be seen and not opened. */
static int not_opened(struct walk *w, int code)
{
	switch (code) {
	case ENOENT:
	case ELOOP:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
		return changed(w);
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return fail(w, code);
	default:
		return unreadable(w, code);
	}
}

static int note(struct walk *w, struct noted **list, const struct stat *st, const char *target)
{
	struct noted *n = arena_alloc(w->arena, sizeof(*n));
	const char *path = arena_str(w->arena, sv_n(w->path, w->len));

	if (!n || !path)
		return fail(w, ENOMEM);
	*n = (struct noted){.next = *list,
			    .path = path,
			    .target = target,
			    .dev = st->st_dev,
			    .ino = st->st_ino,
			    .names = st->st_nlink};
	*list = n;
	return 0;
}

static bool owner_ok(const struct walk *w, const struct stat *st)
{
	return st->st_uid == w->caller || st->st_uid == w->owner;
}

/* What the descriptor says, not what the name said before. */
static bool file_ok(struct walk *w, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;
	const char *what = NULL;

	if (st->st_mode & (S_ISUID | S_ISGID))
		what = "has the setuid or setgid bit; remove it (chmod ug-s)";
	else if (st->st_size < 0 || size > w->limits->file_bytes)
		what = "too large a file";
	else if (size > w->limits->bytes - w->stats.bytes)
		what = "too many bytes in all";
	if (what)
		(void)refuse(w, what);
	else
		w->stats.bytes += size;
	return !what;
}

static bool same_state(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The copy gets a mode that everybody can read it with; the one that it had is for builds. */
static int make_plain(struct walk *w, int out, mode_t plain, mode_t was)
{
	struct stat copy;

	if (fchmod(out, plain) < 0 || fstat(out, &copy) < 0)
		return -errno;
	return w->modes && was != plain ? modes_add(w->modes, &copy, was) : 0;
}

static int copy_content(struct walk *w, int in, int to, const char *name, const struct stat *st)
{
	AUTO_FD out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct timespec times[2] = {st->st_mtim, st->st_mtim};
	struct stat after, copy;
	bool cloned;
	int r = out < 0 ? -errno : sys_copy_bytes(in, out, (uint64_t)st->st_size, &cloned);

	if (r < 0)
		return fail(w, r);
	if (fstat(in, &after) < 0 || fstat(out, &copy) < 0)
		return fail(w, errno);
	if (!same_state(st, &after) || copy.st_size != st->st_size)
		return changed(w);
	r = make_plain(w, out, st->st_mode & S_IXUSR ? 0755 : 0644, st->st_mode & 0777);
	if (r < 0)
		return fail(w, r);
	if (futimens(out, times) < 0)
		return fail(w, errno);
	w->stats.cloned += cloned;
	return 0;
}

static int copy_file(struct walk *w, int from, int to, const char *name)
{
	AUTO_FD in = sys_open_beneath(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	if (in < 0)
		return not_opened(w, -in);
	if (fstat(in, &st) < 0)
		return fail(w, errno);
	if (!S_ISREG(st.st_mode) || !owner_ok(w, &st))
		return changed(w);
	w->stats.files++;
	if (!file_ok(w, &st))
		return 0;
	if (st.st_nlink > 1) {
		w->n_shared++;
		if (note(w, &w->shared, &st, NULL) < 0)
			return -1;
	}
	return w->refused ? 0 : copy_content(w, in, to, name, &st);
}

static int copy_link(struct walk *w, int from, int to, const char *name, const struct stat *st)
{
	struct timespec times[2] = {st->st_mtim, st->st_mtim};
	char text[PATH_MAX];
	ssize_t n = readlinkat(from, name, text, sizeof(text));
	const char *target;

	if (n < 0)
		return changed(w);
	if (n == 0 || n == sizeof(text) || !stage_name_plain(sv_n(text, (size_t)n)))
		return refuse(w, "symbolic link with characters that are not allowed in names");
	target = arena_str(w->arena, sv_n(text, (size_t)n));
	if (!target || note(w, &w->links, st, target) < 0)
		return fail(w, ENOMEM);
	w->stats.links++;
	if (w->refused)
		return 0;
	if (symlinkat(target, to, name) < 0 || utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(w, errno);
	return 0;
}

static int copy_entries(struct walk *w, int in, int out, unsigned depth);

static int copy_folder(struct walk *w, int from, int to, const char *name, unsigned depth)
{
	AUTO_FD in = -1, out = -1;
	struct stat st;
	int r;

	if (depth >= w->limits->depth || depth >= DEPTH_MAX)
		return refuse(w, "folders too deep in each other");
	in = sys_open_beneath(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (in < 0)
		return not_opened(w, -in);
	if (fstat(in, &st) < 0)
		return fail(w, errno);
	if (!owner_ok(w, &st))
		return changed(w);
	w->stats.folders++;
	if (!w->refused) {
		if (mkdirat(to, name, 0700) < 0)
			return fail(w, errno);
		out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (out < 0)
			return fail(w, errno);
	}
	if (copy_entries(w, in, out, depth + 1) < 0)
		return -1;
	if (out >= 0) {
		struct timespec times[2] = {st.st_mtim, st.st_mtim};

		r = make_plain(w, out, 0755, st.st_mode & 03777);
		if (r < 0)
			return fail(w, r);
		if (futimens(out, times) < 0)
			return fail(w, errno);
	}
	return 0;
}

static const char *kind_refused(const struct stat *st)
{
	if (S_ISFIFO(st->st_mode))
		return "a FIFO; only files, folders and links can be part of a task";
	if (S_ISSOCK(st->st_mode))
		return "a socket; only files, folders and links can be part of a task";
	return "a device; only files, folders and links can be part of a task";
}

static int copy_entry(struct walk *w, int from, int to, const char *name, unsigned depth)
{
	struct stat st;

	if (++w->entries > w->limits->entries) {
		w->full = true;
		return refuse(w, "too many files; nothing behind this one was looked at");
	}
	if (!stage_name_plain(sv_of(name)))
		return refuse(w, "name with characters that are not allowed; rename it");
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return not_opened(w, errno);
	if (!owner_ok(w, &st))
		return refuse(w, "belongs to another user than the task folder; chown it, or copy the folder first");
	if (S_ISREG(st.st_mode))
		return copy_file(w, from, to, name);
	if (S_ISLNK(st.st_mode))
		return copy_link(w, from, to, name, &st);
	if (S_ISDIR(st.st_mode))
		return copy_folder(w, from, to, name, depth);
	return refuse(w, kind_refused(&st));
}

/* The entry's path becomes the one at hand while it is copied. */
static int copy_at_path(struct walk *w, int from, int to, const char *name, unsigned depth)
{
	size_t len = w->len, n = strlen(name);
	int r;

	if (len + n + 2 > sizeof(w->path))
		return refuse(w, "holds a path that is too long");
	if (len)
		w->path[w->len++] = '/';
	memcpy(w->path + w->len, name, n + 1);
	w->len += n;
	r = copy_entry(w, from, to, name, depth);
	w->len = len;
	w->path[len] = '\0';
	return r;
}

static int copy_entries(struct walk *w, int in, int out, unsigned depth)
{
	DIR *d = sys_list(in);
	struct dirent *e;
	int r = 0;

	if (!d)
		return not_opened(w, errno);
	while (r == 0 && !w->full && (errno = 0, e = readdir(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = copy_at_path(w, in, out, e->d_name, depth);
	}
	if (r == 0 && !w->full && errno)
		r = unreadable(w, errno);
	(void)closedir(d);
	return r;
}

/* All links are in the copy now, which nobody changes: where they lead there is where they will lead. */
static void judge_links(struct walk *w, int to)
{
	static const char *const what[] = {
		[LINK_LEAVES] = "leaves the task folder; put a copy in its place", [LINK_CIRCLE] = "leads in a circle"};
	struct text_shown path, target;
	uint64_t work = STAGE_LINK_WORK;
	struct noted *l;
	enum stage_link r;

	for (l = w->links; l; l = l->next) {
		r = stage_link_text(sv_of(l->path), sv_of(l->target), &work);
		if (r == LINK_STAYS)
			r = stage_link_follow(to, sv_of(l->path), sv_of(l->target), &work);
		if (r == LINK_TOO_LONG) {
			problems_add(w->problems, "the task folder: its symbolic links are too many and too long to be "
						  "followed, one through the other; put copies in their places");
			return;
		}
		if (r != LINK_STAYS)
			problems_add(w->problems, "%s: symbolic link to %s %s", text_show(&path, sv_of(l->path)),
				     text_show(&target, sv_of(l->target)), what[r]);
	}
}

static int by_inode(const void *a, const void *b)
{
	const struct noted *x = *(const struct noted *const *)a, *y = *(const struct noted *const *)b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino == y->ino ? 0 : x->ino < y->ino ? -1 : 1;
}

/* A file of several names is the task's own only where all of them were seen. */
static int judge_shared(struct walk *w)
{
	AUTO_FREE struct noted **v = w->n_shared ? calloc(w->n_shared, sizeof(struct noted *)) : NULL;
	struct text_shown path;
	struct noted *s;
	size_t n = 0, i, j, k;

	if (w->n_shared && !v)
		return fail(w, ENOMEM);
	for (s = w->shared; s; s = s->next)
		v[n++] = s;
	if (n)
		qsort(v, n, sizeof(struct noted *), by_inode);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && by_inode(&v[i], &v[j]) == 0; j++)
			;
		for (k = i; k < j; k++)
			if (v[k]->names > j - i)
				problems_add(w->problems,
					     "%s: has a further name (hard link) outside the task folder; put a copy "
					     "in its place",
					     text_show(&path, sv_of(v[k]->path)));
	}
	return 0;
}

static int stage(struct walk *w, int from, int to)
{
	struct stat top;

	if (fstat(from, &top) < 0)
		return error_sys(w->err, errno, "the task folder");
	w->owner = top.st_uid;
	if (copy_entries(w, from, to, 0) < 0 || judge_shared(w) < 0)
		return -1;
	judge_links(w, to);
	return problems_error(w->problems, w->err);
}

int stage_copy(int from, int to, const struct stage_limits *limits, struct stage_stats *ret_stats, struct modes *modes,
	       struct problems *problems, struct error *err)
{
	struct walk w = {.limits = limits,
			 .modes = modes,
			 .problems = problems,
			 .err = err,
			 .arena = arena_new(),
			 .caller = geteuid()};
	int r = w.arena ? stage(&w, from, to) : error_sys(err, ENOMEM, "staging the task folder");

	arena_free(w.arena);
	if (modes)
		modes_sort(modes);
	if (r < 0)
		sys_empty_tree(to);
	else
		*ret_stats = w.stats;
	return r;
}
