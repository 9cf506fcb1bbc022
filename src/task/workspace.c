#include "task/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/textdiff.h"
#include "sys/beneath.h"
#include "sys/tree.h"
#include "task/carry_view.h"

enum { DEPTH_MAX = 200 };

struct walk {
	FILE *out;
	unsigned entries, depth;
	char path[PATH_MAX]; /* relative to the work folder */
	size_t n;
	int code; /* negative: it failed */
};

/* One side of a change: dir and name where the file is. */
static void read_side(int dir, const char *name, const struct stat *st, struct buf *text, struct textdiff_side *ret)
{
	ssize_t n;

	*ret = (struct textdiff_side){.mode = st->st_mode & (S_IFMT | 0777), .size = (uint64_t)st->st_size};
	buf_init(text, WORKSPACE_FILE);
	if (S_ISLNK(st->st_mode)) {
		if (buf_reserve(text, PATH_MAX) < 0 || (n = readlinkat(dir, name, text->p, PATH_MAX - 1)) < 0)
			return;
		text->n = (size_t)n;
	} else if (!S_ISREG(st->st_mode) || carry_read(dir, name, text) < 0) {
		return;
	}
	ret->text = buf_view(text);
}

static bool is_shown(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);
}

static void print_change(struct walk *w, int dir, const char *name, const struct stat *now, const struct layered *image)
{
	static const struct textdiff_style style = {.escape = false};
	struct textdiff_side before = {0}, after = {0};
	AUTO_BUF old = {0};
	AUTO_BUF new = {0};
	struct stat was;
	int from = -1;

	layered_stat(image, name, &was, &from);
	if (is_shown(&was))
		read_side(from, name, &was, &old, &before);
	if (now && is_shown(now))
		read_side(dir, name, now, &new, &after);
	if ((before.mode || after.mode) && textdiff_print(w->out, w->path, &before, &after, &style) < 0)
		w->code = -ENOMEM;
}

static void walk_folder(struct walk *w, int dir, const struct layered *image);

/* With the name at the end of the path, and without it again. */
static bool push(struct walk *w, const char *name)
{
	size_t n = strlen(name);

	if (w->n + n + 2 > sizeof(w->path) || w->code < 0 || w->entries++ >= WORKSPACE_ENTRIES)
		return false;
	if (w->n)
		w->path[w->n++] = '/';
	memcpy(w->path + w->n, name, n + 1);
	w->n += n;
	return true;
}

static void pop(struct walk *w, size_t n)
{
	w->n = n;
	w->path[n] = '\0';
}

struct gone {
	struct walk *walk;
	const struct layered *image;
	int kept; /* the upper folder whose own names are not gone; -1: all are */
};

static bool print_gone(void *arg, const char *name)
{
	struct gone *g = arg;
	struct walk *w = g->walk;
	struct stat st;
	size_t n = w->n;
	int from;

	if (g->kept >= 0 && fstatat(g->kept, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	if (!push(w, name))
		return w->code == 0 && w->entries < WORKSPACE_ENTRIES;
	layered_stat(g->image, name, &st, &from);
	if (S_ISDIR(st.st_mode) && w->depth) {
		AUTO_LAYERED below = {0};
		struct gone inner = {w, &below, -1};

		w->depth--;
		if (layered_enter(g->image, name, &below) == 0)
			(void)layered_names(&below, print_gone, &inner);
		w->depth++;
	} else {
		print_change(w, -1, name, NULL, g->image);
	}
	pop(w, n);
	return true;
}

static void walk_below(struct walk *w, int dir, const char *name, const struct layered *image)
{
	AUTO_FD below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_LAYERED lower = {0};
	struct gone gone = {w, &lower, below};

	if (below < 0 || w->depth == 0 || layered_enter(image, name, &lower) < 0)
		return;
	w->depth--;
	if (is_opaque(below))
		(void)layered_names(&lower, print_gone, &gone);
	walk_folder(w, below, &lower);
	w->depth++;
}

static void walk_entry(struct walk *w, int dir, const char *name, const struct layered *image)
{
	struct gone gone = {w, image, -1};
	struct stat st;
	size_t n = w->n;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (is_whiteout(&st)) {
		(void)print_gone(&gone, name);
		return;
	}
	if (!push(w, name))
		return;
	if (S_ISDIR(st.st_mode))
		walk_below(w, dir, name, image);
	else
		print_change(w, dir, name, &st, image);
	pop(w, n);
}

static void walk_folder(struct walk *w, int dir, const struct layered *image)
{
	DIR *d = sys_list(dir);
	struct dirent *e;

	while (d && w->code == 0 && w->entries < WORKSPACE_ENTRIES && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			walk_entry(w, dir, e->d_name, image);
	if (d)
		(void)closedir(d);
}

/* The image's folder at path, by one name after the other. */
static int enter(const char *const *layers, const char *path, struct layered *ret)
{
	char name[NAME_MAX + 1];
	struct layered next;
	size_t n;
	int r = layered_open(ret, layers);

	for (; r == 0 && *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0)
			break;
		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, n);
		name[n] = '\0';
		next = (struct layered){0};
		r = layered_enter(ret, name, &next);
		layered_done(ret);
		*ret = next;
	}
	return r;
}

int workspace_diff(int upper, const char *const *layers, const char *workdir, FILE *out, struct error *err)
{
	struct walk w = {.out = out, .depth = DEPTH_MAX};
	AUTO_FD dir = sys_open_beneath(upper, workdir[1] ? workdir + 1 : ".", O_RDONLY | O_DIRECTORY, 0);
	AUTO_LAYERED image = {0};
	int r;

	/* nothing in it was changed */
	if (dir < 0)
		return 0;
	r = enter(layers, workdir, &image);
	if (r < 0)
		return error_sys(err, r, "the image's work folder");
	walk_folder(&w, dir, &image);
	if (w.entries >= WORKSPACE_ENTRIES)
		(void)fputs("# there are more changes than are shown here\n", out);
	return w.code < 0 ? error_sys(err, w.code, "the changes of the work folder") : 0;
}
