#include "plan/scan_links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/names.h"

enum { LINKS_DEPTH = 512 };

void scan_links_init(struct scan_links *l, uint64_t max_entries)
{
	*l = (struct scan_links){.max_entries = max_entries};
}

void scan_links_done(struct scan_links *l)
{
	free(l->v);
	*l = (struct scan_links){0};
}

void scan_own_add(struct scan_own *o, const char *path)
{
	struct stat st;

	if (o->n == SCAN_OWN_MAX || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	o->v[o->n].dev = st.st_dev;
	o->v[o->n].ino = st.st_ino;
	o->n++;
}

bool scan_links_is_own(const struct scan_links *l, const struct stat *st)
{
	size_t i;

	for (i = 0; l->own && i < l->own->n; i++)
		if (l->own->v[i].ino == st->st_ino && l->own->v[i].dev == st->st_dev)
			return true;
	return false;
}

/* A noting: what was found, and why. */
struct noting {
	struct scan_links *links;
	const char *path;
	const struct plan_guard *guard;
	struct error *err;
};

static int cannot(const struct noting *n, const char *why)
{
	struct text_shown t;

	if (n->links->lenient)
		return 0;
	return error_set(n->err, ERROR_INPUT,
			 "%s: %s, so that other names (hard links) of files in it cannot be looked for; %s",
			 text_show(&t, sv_of(n->path)), why, n->guard->rule);
}

int scan_links_add(struct scan_links *l, dev_t dev, ino_t ino, const struct plan_guard *guard, struct error *err)
{
	struct scan_linked *more;
	size_t room;

	if (l->n == l->room) {
		room = l->room ? 2 * l->room : 64;
		more = realloc(l->v, room * sizeof(*more));
		if (!more)
			return error_set(err, ERROR_SYSTEM, "out of memory");
		l->v = more;
		l->room = room;
	}
	l->v[l->n++] = (struct scan_linked){dev, ino, guard};
	l->sorted = false;
	return 0;
}

static int note_file(const struct noting *n, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return 0;
	return scan_links_add(n->links, st->st_dev, st->st_ino, n->guard, n->err);
}

static int note_folder(const struct noting *n, int parent, const char *name, unsigned depth);

static int note_entry(const struct noting *n, int parent, const char *name, unsigned depth)
{
	struct stat st;

	if (++n->links->entries > n->links->max_entries)
		return cannot(n, "it holds too many files");
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		/* gone meanwhile, or in a folder that may be listed but not entered */
		return errno == ENOENT || errno == EACCES ? 0 : error_sys(n->err, errno, "%s", n->path);
	}
	if (!S_ISDIR(st.st_mode))
		return note_file(n, &st);
	return scan_links_is_own(n->links, &st) ? 0 : note_folder(n, parent, name, depth);
}

/* Of ours, and shut: the files in it may be linked from anywhere. */
static int note_shut(const struct noting *n, int parent, const char *name)
{
	struct stat st;

	if (n->links->lenient || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid())
		return 0;
	return cannot(n, "it, or a folder in it, cannot be read although it is yours");
}

static int note_folder(const struct noting *n, int parent, const char *name, unsigned depth)
{
	AUTO_FD fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct dirent *e;
	DIR *dir;
	int r = 0, more = 0;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0; /* gone, or replaced by something that is no folder */
	if (fd < 0 && errno == EACCES)
		return note_shut(n, parent, name);
	if (fd < 0)
		return error_sys(n->err, errno, "%s", n->path);
	if (depth > LINKS_DEPTH)
		return cannot(n, "its folders are nested too deep");
	dir = fdopendir(fd);
	if (!dir)
		return error_sys(n->err, errno, "%s", n->path);
	(void)fd_take(&fd);
	while (r == 0 && (more = sys_next_name(dir, &e)) > 0)
		r = note_entry(n, dirfd(dir), e->d_name, depth + 1);
	if (more < 0)
		r = error_sys(n->err, -more, "%s", n->path);
	(void)closedir(dir);
	return r;
}

int scan_links_note(struct scan_links *l, int dir, const char *name, const char *path, const struct plan_guard *guard,
		    struct error *err)
{
	struct noting n = {.links = l, .path = path, .guard = guard, .err = err};

	return note_entry(&n, dir, name, 0);
}

static int by_identity(const void *a, const void *b)
{
	const struct scan_linked *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static int by_identity_and_guard(const void *a, const void *b)
{
	const struct scan_linked *x = a, *y = b;
	int r = by_identity(a, b);

	return r ? r : (int)y->guard->hidden - (int)x->guard->hidden;
}

/* Sorts, and keeps one of each file. */
static void settle(struct scan_links *l)
{
	size_t i, n = 0;

	qsort(l->v, l->n, sizeof(*l->v), by_identity_and_guard);
	for (i = 0; i < l->n; i++)
		if (n == 0 || by_identity(&l->v[i], &l->v[n - 1]) != 0)
			l->v[n++] = l->v[i];
	l->n = n;
	l->sorted = true;
}

const struct plan_guard *scan_links_judge(struct scan_links *l, const struct stat *st)
{
	struct scan_linked key = {.dev = st->st_dev, .ino = st->st_ino};
	const struct scan_linked *hit;

	if (!l->n || !S_ISREG(st->st_mode) || st->st_nlink < 2)
		return NULL;
	if (!l->sorted)
		settle(l);
	hit = bsearch(&key, l->v, l->n, sizeof(*l->v), by_identity);
	return hit ? hit->guard : NULL;
}
