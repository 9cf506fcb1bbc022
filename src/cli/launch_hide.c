#include "cli/launch_hide.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan_build.h"
#include "plan/scan.h"
#include "supervise/changes.h"
#include "supervise/changes_journal.h"
#include "supervise/changes_names.h"
#include "supervise/copy.h"
#include "sys/beneath.h"
#include "sys/tree.h"

static int by_bytes(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int find_masks(struct hidden *h, struct plan *plan, const struct plan_op *op, struct error *err)
{
	const struct plan_op *m;

	*h = (struct hidden){.room = plan->n_ops, .skip = strlen(op->source) + 1, .owner = h->owner};
	h->paths = arena_array(plan->arena, h->room, sizeof(*h->paths));
	h->inodes = arena_array(plan->arena, h->room, sizeof(*h->inodes));
	for (m = plan->ops; h->paths && m < plan->ops + plan->n_ops; m++)
		if (m->kind == PLAN_MASK && path_is_below(m->target, op->target))
			h->paths[h->n++] =
				arena_printf(plan->arena, "%s%s", op->source, m->target + strlen(op->target));
	if (arena_failed(plan->arena))
		return error_set(err, ERROR_SYSTEM, "out of memory");
	/* a folder before what is in it */
	qsort(h->paths, h->n, sizeof(*h->paths), by_bytes);
	return 0;
}

/* What is missing in the copy, be it that it lies in something that is hidden itself, is as the host has it. */
static int look(int host, int dir, const char *name, const char *path, struct stat *ret)
{
	AUTO_FD fd = -1;

	if (fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	fd = sys_open_beneath(host, path, O_PATH | O_NOFOLLOW, 0);
	return fd < 0 ? fd : fstat(fd, ret) < 0 ? -errno : 0;
}

/* A folder of somebody else's, of which the copy has nothing. */
static bool is_shut(const struct hidden *h, int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && st.st_uid != h->owner && !(st.st_mode & S_IXGRP);
}

/* 0 or -errno. */
static int hide(const struct hidden *h, int host, int copy, const char *path, ino_t *ret)
{
	const char *name = NULL;
	AUTO_FD dir = open_parent(copy, path, &name);
	struct stat st;

	/* gone since the plan was made; a link is judged by the name it leads to */
	if (dir < 0 || is_shut(h, dir) || look(host, dir, name, path, &st) < 0 || S_ISLNK(st.st_mode))
		return 0;
	sys_remove_tree(dir, name);
	if ((S_ISDIR(st.st_mode) ? mkdirat(dir, name, 0700) : mknodat(dir, name, S_IFREG | 0600, 0)) < 0 ||
	    (geteuid() == 0 && fchownat(dir, name, h->owner, h->owner, AT_SYMLINK_NOFOLLOW) < 0) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret = st.st_ino;
	return 0;
}

int hide_masked(struct hidden *h, struct plan *plan, const struct plan_op *op, int host, int copy, struct error *err)
{
	struct text_shown t;
	size_t i;
	int r;

	if (find_masks(h, plan, op, err) < 0)
		return -1;
	for (i = 0; i < h->n; i++) {
		r = hide(h, host, copy, h->paths[i] + h->skip, &h->inodes[i]);
		if (r < 0)
			return error_sys(err, r, "hide %s", text_show(&t, sv_of(h->paths[i])));
	}
	return 0;
}

struct late {
	struct hidden *h;
	struct plan *plan;
	const struct plan_op *op;
	int host, copy;
	struct error *err;
};

/* Room for one more. */
static int grow(struct late *l)
{
	struct hidden *h = l->h, more = *h;

	if (h->n < h->room)
		return 0;
	more.room = 2 * h->room + 16;
	more.paths = arena_array(l->plan->arena, more.room, sizeof(*more.paths));
	more.inodes = arena_array(l->plan->arena, more.room, sizeof(*more.inodes));
	if (arena_failed(l->plan->arena))
		return error_set(l->err, ERROR_SYSTEM, "out of memory");
	memcpy(more.paths, h->paths, h->n * sizeof(*h->paths));
	memcpy(more.inodes, h->inodes, h->n * sizeof(*h->inodes));
	*h = more;
	return 0;
}

/* What is below something hidden, or is that itself, is gone or empty already. */
static bool is_hidden(const struct hidden *h, const char *path)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (strcmp(h->paths[i], path) == 0 || path_is_below(path, h->paths[i]))
			return true;
	return false;
}

static int found_late(void *arg, const char *inside, const struct plan_guard *guard, bool on_way)
{
	struct late *l = arg;
	const char *path = arena_printf(l->plan->arena, "%s%s", l->op->source, inside + strlen(l->op->target));
	struct hidden *h = l->h;
	ino_t inode = 0;
	size_t at;
	int r;

	if (on_way || !guard->hidden || (path && is_hidden(h, path)))
		return 0;
	if (!path || grow(l) < 0)
		return error_set(l->err, ERROR_SYSTEM, "out of memory");
	r = hide(h, l->host, l->copy, path + h->skip, &inode);
	if (r < 0)
		return error_sys(l->err, r, "hide %s", path);
	for (at = h->n; at > 0 && strcmp(h->paths[at - 1], path) > 0; at--) {
		h->paths[at] = h->paths[at - 1];
		h->inodes[at] = h->inodes[at - 1];
	}
	h->paths[at] = path;
	h->inodes[at] = inode;
	h->n++;
	return 0;
}

int hide_late(struct hidden *h, struct plan *plan, const struct plan_op *op, int host, int copy, struct error *err)
{
	struct late l = {.h = h, .plan = plan, .op = op, .host = host, .copy = copy, .err = err};
	struct scan scan = {.guards = plan->guards,
			    .n_guards = plan->n_guards,
			    .max_entries = PLAN_MAX_ENTRIES,
			    .found = found_late,
			    .arg = &l};
	uint64_t entries = 0;

	return scan_tree_at(&scan, copy, op->source, op->target, &entries, err);
}

static bool covers(const struct plan_op *m)
{
	return m->kind == PLAN_MASK || m->kind == PLAN_PROTECT;
}

/* Below another thing that is shown there, or that is hidden as a whole, it is not the copy that counts. */
static bool is_elsewhere(const struct plan *plan, const struct plan_op *m, const char *target)
{
	const struct plan_op *op;

	for (op = plan->ops; op < plan->ops + plan->n_ops; op++)
		if (op->kind != PLAN_DIR && op->kind != PLAN_PROTECT && path_is_below(op->target, target) &&
		    path_is_below(m->target, op->target))
			return true;
	return false;
}

static bool is_missing(int copy, const char *path)
{
	AUTO_FD fd = sys_open_beneath(copy, path, O_PATH | O_NOFOLLOW, 0);

	return fd == -ENOENT || fd == -ENOTDIR;
}

void hide_drop(struct plan *plan, const char *target, int copy)
{
	struct plan_op *m = plan->ops;

	while (m < plan->ops + plan->n_ops) {
		if (!covers(m) || !path_is_below(m->target, target) ||
		    !is_missing(copy, m->target + strlen(target) + 1) || is_elsewhere(plan, m, target)) {
			m++;
			continue;
		}
		plan->n_ops--;
		memmove(m, m + 1, (size_t)(plan->ops + plan->n_ops - m) * sizeof(*m));
	}
}

struct strays {
	const struct hidden *h;
	const struct copied *copied;
	dev_t dev;
	size_t budget; /* names that may still be read: of more nothing comes back (changes.h) */
};

/* Empty and unchanged since it was put there: its number may have been used again. */
static bool is_ours(const struct strays *s, const struct stat *st)
{
	size_t i;

	if (st->st_dev != s->dev || !copied_before(s->copied, st->st_ctim) ||
	    (S_ISREG(st->st_mode) ? st->st_size != 0 : !S_ISDIR(st->st_mode)))
		return false;
	for (i = 0; i < s->h->n; i++)
		if (s->h->inodes[i] == st->st_ino)
			return true;
	return false;
}

static void remove_strays(struct strays *s, int dir, unsigned depth)
{
	AUTO_NAMES names = {0};
	struct stat st;
	size_t i;

	if (dir < 0 || depth > CHANGES_DEPTH || names_read(&names, dir, &s->budget) < 0)
		return;
	for (i = 0; i < names.n; i++) {
		AUTO_FD below = -1;

		if (fstatat(dir, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (is_ours(s, &st)) {
			(void)unlinkat(dir, names.v[i], S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
			continue;
		}
		if (!S_ISDIR(st.st_mode))
			continue;
		below = openat(dir, names.v[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		remove_strays(s, below, depth + 1);
	}
}

void hide_end(const struct hidden *h, const struct copied *copied, int copy)
{
	struct strays strays = {.h = h, .copied = copied, .budget = CHANGES_ENTRIES};
	bool moved = false;
	struct stat st;
	size_t i;

	for (i = h->n; i-- > 0;) {
		const char *name = NULL;
		AUTO_FD dir = open_parent(copy, h->paths[i] + h->skip, &name);

		if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == h->inodes[i])
			(void)unlinkat(dir, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
		else
			moved = moved || h->inodes[i];
	}
	if (!moved || fstat(copy, &st) < 0)
		return;
	strays.dev = st.st_dev;
	remove_strays(&strays, copy, 0);
}

void hide_fill(const struct hidden *h, int host, int copy)
{
	struct error ignored = {0};
	size_t i;

	for (i = 0; i < h->n; i++) {
		const char *name = NULL;
		AUTO_FD from = open_parent(host, h->paths[i] + h->skip, &name);
		AUTO_FD to = open_parent(copy, h->paths[i] + h->skip, &name);

		if (from >= 0 && to >= 0 && h->inodes[i] && faccessat(to, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			(void)copy_name(from, to, name, &ignored);
	}
}
