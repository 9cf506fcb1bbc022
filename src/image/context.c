#include "image/context.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "image/pattern.h"
#include "sys/beneath.h"
#include "sys/lookup.h"

struct walker {
	const struct context *c;
	const struct recipe_step *s;
	const struct context_sink *sink;
	int (*each)(void *arg, const char *name, int fd, struct error *err); /* in place of a sink */
	void *each_arg;
	size_t tops, entries, expanded;
	uint64_t work; /* in patterns */
	unsigned depth;
	size_t strip; /* of --parents: how many names at the source's beginning do not go to the destination */
	struct error *err;
};

enum { COMPONENTS_MAX = 128, EXPANDED_MAX = 1 << 20 };
#define WORK_MAX ((uint64_t)4 << 30)

static int fail(struct walker *w, int code, const char *path)
{
	struct text_shown t;

	return error_sys(w->err, code, "%s", text_show(&t, sv_of(path)));
}

static int too_long(struct walker *w)
{
	return error_set(w->err, ERROR_INPUT,
			 "the patterns of .dockerignore, --exclude or the source take too long for so many files");
}

/* The context itself is there whatever "*" says; what is in it is asked for by its own name. */
static bool ignored(struct walker *w, const char *path)
{
	return w->c->ignore && strcmp(path, ".") != 0 && pattern_ignored(w->c->ignore, sv_of(path), &w->work);
}

static bool excluded(struct walker *w, const char *path)
{
	return pattern_ignored((const char *const *)w->s->excludes, sv_of(path), &w->work);
}

/* ---- what lies in folders ---- */

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names)
{
	size_t k;

	for (k = 0; names && names[k]; k++)
		free(names[k]);
	free(names);
}

/* Sorted and NULL-terminated; NULL and errno. Takes the fd. */
static char **names_in(int fd)
{
	DIR *d = fdopendir(fd);
	size_t n = 0, cap = 0;
	char **v = NULL, **wider;
	struct dirent *e;

	if (!d) {
		(void)close(fd);
		return NULL;
	}
	for (errno = 0; (e = readdir(d)); errno = 0) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (n + 2 > cap) {
			cap = cap ? 2 * cap : 32;
			wider = reallocarray(v, cap, sizeof(*v));
			if (!wider)
				break;
			v = wider;
		}
		v[n] = strdup(e->d_name);
		v[n + 1] = NULL;
		if (!v[n++])
			break;
	}
	if (!v && !errno)
		v = calloc(1, sizeof(*v));
	if (errno) {
		free_names(v);
		v = NULL;
	}
	(void)closedir(d);
	if (v)
		qsort(v, n, sizeof(*v), by_bytes);
	return v;
}

static int put(struct walker *w, bool alone, const char *path, const struct stat *st, int fd, const char *link)
{
	struct context_entry e = {.alone = alone, .path = path, .st = *st, .fd = fd, .link = link};

	if (++w->entries > CONTEXT_ENTRIES)
		return error_set(w->err, ERROR_INPUT, "more than %d files", CONTEXT_ENTRIES);
	e.st.st_mode = modes_of(w->c->modes, st);
	if (!w->c->owners)
		e.st.st_uid = e.st.st_gid = 0;
	return w->sink->put(w->sink->arg, &e, w->err);
}

static int put_link(struct walker *w, int dir, const char *name, const char *path, const struct stat *st)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);

	if (n < 0)
		return fail(w, errno, path);
	text[n] = '\0';
	return put(w, false, path, st, -1, text);
}

static int put_file(struct walker *w, int dir, const char *name, const char *path)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(w, errno, path);
	if (!S_ISREG(st.st_mode))
		return error_set(w->err, ERROR_INPUT, "a file changed while it was copied");
	return put(w, false, path, &st, fd, NULL);
}

static int walk_folder(struct walker *w, int dir, const char *from_root, const char *below);

/* from_root: the path from the root, for .dockerignore; below: from the source, which is what the destination gets. */
static int one_entry(struct walker *w, int dir, const char *name, const char *from_root, const char *below)
{
	bool hidden = ignored(w, from_root);
	AUTO_FD fd = -1;
	struct stat st;

	if (w->work > WORK_MAX)
		return too_long(w);
	if (excluded(w, below) || excluded(w, from_root))
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(w, errno, from_root);
	if (S_ISDIR(st.st_mode)) {
		if (hidden && !pattern_may_return(w->c->ignore, sv_of(from_root), &w->work))
			return 0;
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return fail(w, errno, from_root);
		if (!hidden && put(w, false, below, &st, -1, NULL) < 0)
			return -1;
		return walk_folder(w, fd, from_root, below);
	}
	if (hidden)
		return 0;
	if (S_ISLNK(st.st_mode))
		return put_link(w, dir, name, below, &st);
	return S_ISREG(st.st_mode) ? put_file(w, dir, name, below) : 0;
}

static const char *join(char *out, size_t size, const char *folder, const char *name)
{
	int n = strcmp(folder, ".") == 0 || !*folder ? snprintf(out, size, "%s", name)
						     : snprintf(out, size, "%s/%s", folder, name);

	return n < 0 || (size_t)n >= size ? NULL : out;
}

static int walk_folder(struct walker *w, int dir, const char *from_root, const char *below)
{
	char root_path[PATH_MAX], below_path[PATH_MAX], **names;
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	size_t k;

	if (again < 0)
		return fail(w, errno, from_root);
	if (w->depth >= CONTEXT_DEPTH) {
		(void)close(again);
		return error_set(w->err, ERROR_INPUT, "folders are nested deeper than %d", CONTEXT_DEPTH);
	}
	names = names_in(again);
	if (!names)
		return fail(w, errno, from_root);
	w->depth++;
	for (k = 0; names[k] && r == 0; k++) {
		if (!join(root_path, sizeof(root_path), from_root, names[k]) ||
		    !join(below_path, sizeof(below_path), below, names[k]))
			r = fail(w, ENAMETOOLONG, from_root);
		else
			r = one_entry(w, dir, names[k], root_path, below_path);
	}
	w->depth--;
	free_names(names);
	return r;
}

/* ---- sources ---- */

/* Where it really is, from the root: links may have led elsewhere. */
static int real_path(struct walker *w, int fd, char *out, size_t size)
{
	char link[64], root[PATH_MAX], path[PATH_MAX];
	ssize_t n, m;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", w->c->root);
	n = readlink(link, root, sizeof(root) - 1);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	m = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || m < 0)
		return -errno;
	root[n] = path[m] = '\0';
	if (strcmp(root, path) == 0) {
		(void)snprintf(out, size, ".");
		return 0;
	}
	if (strcmp(root, "/") == 0)
		n = 0;
	if (strncmp(path, root, (size_t)n) != 0 || path[n] != '/')
		return -EXDEV;
	(void)snprintf(out, size, "%s", path + n + 1);
	return 0;
}

/* What of a source's path goes to the destination with --parents; "" where nothing is left. */
static const char *behind_pivot(const struct walker *w, const char *path)
{
	size_t n;

	if (strcmp(path, ".") == 0)
		return "";
	for (n = w->strip; n > 0 && *path; n--) {
		path += strcspn(path, "/");
		path += *path == '/';
	}
	return path;
}

/* The folders that it is in, with the modes that they have, and then it. */
static int put_with_parents(struct walker *w, const char *path, const char *from_root, const struct stat *st, int fd)
{
	const char *below = behind_pivot(w, path), *slash;
	char folder[PATH_MAX];
	struct stat above;

	for (slash = strchr(below, '/'); slash; slash = strchr(slash + 1, '/')) {
		AUTO_FD at = -1;

		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		at = sys_open_in_root(w->c->root, folder, O_PATH | O_DIRECTORY);
		if (at < 0 || fstat(at, &above) < 0)
			return fail(w, at < 0 ? at : -errno, folder);
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - below), below);
		if (put(w, false, folder, &above, -1, NULL) < 0)
			return -1;
	}
	if (S_ISREG(st->st_mode))
		return *below ? put(w, false, below, st, fd, NULL)
			      : error_set(w->err, ERROR_INPUT, "a file stands before /./, where a folder is needed");
	if (*below && put(w, false, below, st, -1, NULL) < 0)
		return -1;
	return walk_folder(w, fd, from_root, below);
}

/* A source that was found. 1: it is ignored, and so not there. */
static int take_source(struct walker *w, const char *path)
{
	bool hidden;
	AUTO_FD fd = sys_open_in_root(w->c->root, path, O_PATH);
	AUTO_FD open_fd = -1;
	char real[PATH_MAX] = "";
	const char *name = strrchr(path, '/');
	struct stat st;
	int r;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? 1 : fail(w, fd, path);
	if (fstat(fd, &st) < 0)
		return fail(w, errno, path);
	r = w->c->ignore ? real_path(w, fd, real, sizeof(real)) : 0;
	if (r < 0)
		return fail(w, r, path);
	hidden = ignored(w, path) || ignored(w, real);
	if (hidden && !(S_ISDIR(st.st_mode) && pattern_may_return(w->c->ignore, sv_of(real), &w->work)))
		return 1;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return error_set(w->err, ERROR_INPUT, "what is to be copied is neither a file nor a folder");
	open_fd = sys_open_in_root(w->c->root, path, O_RDONLY | O_NONBLOCK);
	if (open_fd < 0 || fstat(open_fd, &st) < 0)
		return fail(w, open_fd < 0 ? open_fd : -errno, path);
	w->tops++;
	name = name ? name + 1 : path;
	if (w->s->parents && !w->each)
		return S_ISREG(st.st_mode) && excluded(w, path)
			       ? 0
			       : put_with_parents(w, path, *real ? real : path, &st, open_fd);
	if (S_ISDIR(st.st_mode))
		return w->each ? 0 : walk_folder(w, open_fd, *real ? real : path, "");
	if (w->each)
		return w->each(w->each_arg, name, open_fd, w->err);
	return excluded(w, path) ? 0 : put(w, true, name, &st, open_fd, NULL);
}

/* Docker searches for what a pattern matches without following links, which might lead in circles. */
static bool is_link(struct walker *w, const char *path)
{
	AUTO_FD fd = sys_open_in_root(w->c->root, path, O_PATH | O_NOFOLLOW);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The pattern's components one by one; done: those that stand already. How many were found, or -1. */
static int expand(struct walker *w, const char *done, struct sv rest, unsigned depth)
{
	const char *slash = memchr(rest.p, '/', rest.n);
	struct sv c = sv_n(rest.p, slash ? (size_t)(slash - rest.p) : rest.n);
	char path[PATH_MAX], name[NAME_MAX + 1], **names;
	int found = 0, fd, r;
	size_t k;

	if (depth > COMPONENTS_MAX || ++w->expanded > EXPANDED_MAX)
		return error_set(w->err, ERROR_INPUT, "a pattern is too long, or matches too much");
	if (!c.n) {
		r = take_source(w, *done ? done : ".");
		return r < 0 ? -1 : r == 0;
	}
	rest = sv_n(rest.p + c.n + (slash != NULL), rest.n - c.n - (slash != NULL));
	if (!pattern_is_magic(c)) {
		(void)snprintf(name, sizeof(name), "%.*s", (int)c.n, c.p);
		if (c.n > NAME_MAX || !join(path, sizeof(path), done, name))
			return fail(w, ENAMETOOLONG, done);
		return expand(w, path, rest, depth + 1);
	}
	fd = sys_open_in_root(w->c->root, *done ? done : ".", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? 0 : fail(w, fd, done);
	names = names_in(fd);
	if (!names)
		return fail(w, errno, done);
	for (k = 0, r = 0; names[k] && r >= 0; k++) {
		if (!pattern_match(c, sv_of(names[k]), &w->work) && w->work <= WORK_MAX)
			continue;
		r = 0;
		if (w->work > WORK_MAX)
			r = too_long(w);
		else if (!join(path, sizeof(path), done, names[k]))
			r = fail(w, ENAMETOOLONG, done);
		else if (!rest.n || !is_link(w, path))
			r = expand(w, path, rest, depth + 1);
		found += r > 0 ? r : 0;
	}
	free_names(names);
	return r < 0 ? -1 : found;
}

/* Without the pivot, which is remembered as the number of names before it. */
static int take_pivot(struct walker *w, const char *pattern, char out[PATH_MAX])
{
	const char *pivot = w->s->parents ? strstr(pattern, RECIPE_PIVOT) : NULL,
		   *behind = pivot ? pivot + strlen(RECIPE_PIVOT) : pattern;
	size_t n = pivot && !(pivot - pattern == 1 && *pattern == '.') ? (size_t)(pivot - pattern) : 0, i;

	w->strip = n > 0;
	if (strlen(pattern) >= PATH_MAX)
		return fail(w, ENAMETOOLONG, "a source");
	for (i = 0; i < n; i++)
		w->strip += pattern[i] == '/';
	if (strcmp(behind, ".") == 0)
		behind = "";
	memcpy(out, pattern, n);
	if (n && *behind)
		out[n++] = '/';
	memcpy(out + n, behind, strlen(behind) + 1);
	return 0;
}

/* How many it means, or -1. */
static int find(struct walker *w, const char *pattern)
{
	char whole[PATH_MAX];
	int r;

	if (w->s->literal) {
		r = take_source(w, pattern);
		return r < 0 ? -1 : r == 0;
	}
	return take_pivot(w, pattern, whole) < 0 ? -1 : expand(w, "", sv_of(whole), 0);
}

static int source(struct walker *w, const char *pattern)
{
	struct text_shown t;
	int r = find(w, pattern);

	if (r == 0 && w->c->ignore)
		return error_set(w->err, ERROR_INPUT, "there is no %s in the build context, or .dockerignore names it",
				 text_show(&t, sv_of(pattern)));
	if (r == 0)
		return error_set(w->err, ERROR_INPUT, "there is no %s in the stage or image",
				 text_show(&t, sv_of(pattern)));
	return r < 0 ? -1 : 0;
}

static int heredoc(struct walker *w, const struct recipe_file *f)
{
	struct context_entry e = {.alone = true,
				  .path = f->name,
				  .fd = -1,
				  .content = sv_of(f->content),
				  .st = {.st_mode = S_IFREG | 0644, .st_size = (off_t)strlen(f->content)}};

	w->tops++;
	return w->sink->put(w->sink->arg, &e, w->err);
}

int context_walk(const struct context *c, const struct recipe_step *s, const struct context_sink *sink,
		 size_t *ret_tops, struct error *err)
{
	struct walker w = {.c = c, .s = s, .sink = sink, .err = err};
	size_t k;

	for (k = 0; k < s->n_files; k++)
		if (heredoc(&w, &s->files[k]) < 0)
			return -1;
	for (k = 0; s->sources[k]; k++)
		if (source(&w, s->sources[k]) < 0)
			return -1;
	*ret_tops = w.tops;
	return 0;
}

int context_each_file(const struct context *c, const struct recipe_step *s,
		      int (*fn)(void *arg, const char *name, int fd, struct error *err), void *arg, struct error *err)
{
	struct walker w = {.c = c, .s = s, .each = fn, .each_arg = arg, .err = err};
	size_t k;

	for (k = 0; s->sources[k]; k++)
		if (source(&w, s->sources[k]) < 0)
			return -1;
	return 0;
}

struct recipe_step context_of_mount(const char *source[2])
{
	static const char *none[] = {NULL};

	return (struct recipe_step){.kind = RECIPE_COPY,
				    .sources = source,
				    .literal = true,
				    .excludes = none,
				    .dest = "/m",
				    .chown = "",
				    .chmod = ""};
}
