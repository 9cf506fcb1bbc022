#include "task/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/textdiff.h"
#include "sys/beneath.h"
#include "sys/tree.h"
#include "task/carry_view.h"

/* What is kept of WORKSPACE_BYTES for names alone, and for the last lines; bytes that are read for one step of work. */
enum { DEPTH_MAX = 200, NAMES_BYTES = 8 << 20, END_BYTES = 1024, READ_STEP = 4 };

struct walk {
	FILE *out;
	int stop;
	bool stopped;
	unsigned entries, depth;
	unsigned hidden; /* changes that are not shown, because of the bounds of the whole */
	uint64_t work;	 /* that is left */
	char path[PATH_MAX]; /* relative to the work folder */
	size_t n;
	int code; /* negative: it failed */
};

static int read_text(int dir, const char *name, const struct stat *st, struct buf *text)
{
	ssize_t n;

	if (S_ISREG(st->st_mode))
		return carry_read(dir, name, text);
	if (buf_reserve(text, PATH_MAX) < 0 || (n = readlinkat(dir, name, text->p, PATH_MAX - 1)) < 0)
		return -1;
	text->n = (size_t)n;
	return 0;
}

/* One side of a change: dir and name where the file is. What is neither a file nor a link is nothing. */
static void read_side(struct walk *w, int dir, const char *name, const struct stat *st, struct buf *text,
		      struct textdiff_side *ret)
{
	uint64_t cost;

	buf_init(text, WORKSPACE_FILE);
	if (!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode))
		return;
	*ret = (struct textdiff_side){.mode = st->st_mode & (S_IFMT | 0777), .size = (uint64_t)st->st_size};
	if (w->work && read_text(dir, name, st, text) == 0)
		ret->text = buf_view(text);
	cost = text->n / READ_STEP + 1;
	w->work -= cost < w->work ? cost : w->work;
}

/* Is there room for so many bytes more, and for what is kept? */
static bool has_room(const struct walk *w, uint64_t bytes, uint64_t kept)
{
	off_t at = ftello(w->out);

	return at >= 0 && (uint64_t)at + bytes + kept <= WORKSPACE_BYTES;
}

static void print_sides(struct walk *w, struct textdiff_side *before, struct textdiff_side *after)
{
	const struct textdiff_style style = {.escape = false, .left = &w->work};
	/* the most that there can be: two headers where the type changed, of four names each in octal; lines with a
	 * mark, and a line above each hunk of them */
	uint64_t names = 8 * (4 * (uint64_t)w->n + 8) + 400, lines = 4 * (uint64_t)(before->text.n + after->text.n);

	if (w->work == 0 || !has_room(w, names + lines, NAMES_BYTES)) {
		before->text = after->text = (struct sv){0};
		w->hidden++;
		if (!has_room(w, names, END_BYTES))
			return;
	}
	if (textdiff_print(w->out, w->path, before, after, &style) < 0)
		w->code = -ENOMEM;
}

static void print_change(struct walk *w, int dir, const char *name, const struct stat *now, const struct layered *image)
{
	struct textdiff_side before = {0}, after = {0};
	AUTO_BUF old = {0};
	AUTO_BUF new = {0};
	struct stat was;
	int from = -1;

	layered_stat(image, name, &was, &from);
	read_side(w, from, name, &was, &old, &before);
	if (now)
		read_side(w, dir, name, now, &new, &after);
	if (before.mode || after.mode)
		print_sides(w, &before, &after);
}

static void walk_folder(struct walk *w, int dir, const struct layered *image);

/* Nothing more is looked at: it failed, there was enough of it, or somebody does not want to wait. */
static bool is_over(struct walk *w)
{
	struct pollfd p = {.fd = w->stop, .events = POLLIN};

	w->stopped = w->stopped || (w->stop >= 0 && poll(&p, 1, 0) > 0);
	return w->stopped || w->code < 0 || w->entries >= WORKSPACE_ENTRIES;
}

/* With the name at the end of the path, and without it again. */
static bool push(struct walk *w, const char *name)
{
	size_t n = strlen(name);

	if (is_over(w))
		return false;
	w->entries++;
	if (w->n + n + 2 > sizeof(w->path))
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
		return !is_over(w);
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

	while (d && !is_over(w) && (e = readdir(d)))
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

static void print_end(const struct walk *w)
{
	if (w->hidden)
		(void)fprintf(w->out,
			      "# changes that are not shown, because there is too much to show or to compare: %u\n",
			      w->hidden);
	if (w->stopped)
		(void)fputs("# there may be more changes: a signal came before all were looked at\n", w->out);
	else if (w->entries >= WORKSPACE_ENTRIES)
		(void)fputs("# there are more changes than are shown here\n", w->out);
}

int workspace_diff(int upper, const char *const *layers, const char *workdir, FILE *out, int stop, struct error *err)
{
	struct walk w = {.out = out, .stop = stop, .depth = DEPTH_MAX, .work = WORKSPACE_WORK};
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
	print_end(&w);
	return w.code < 0 ? error_sys(err, w.code, "the changes of the work folder") : 0;
}
