#include "supervise/changes_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "supervise/changes_stage.h"
#include "supervise/hard_links.h"
#include "sys/beneath.h"

/* A folder of ours that is to be written to, and does not let us. */
struct opened {
	const char *path;
	const struct change *below; /* the first change that asked for it */
	uint64_t ino;
	mode_t mode;
};

struct build {
	const struct steps_job *job;
	struct journal *journal;
	size_t cap;
	uint32_t slots;
	struct opened *opened;
	size_t n_opened, cap_opened;
	/*
	 * A rename changes a file's ctime under all its names, by which an undone step tells what the host changed in a
	 * folder: names in a folder that moves as a whole share a file with none outside.
	 */
	struct hard_links links, in_folder;
	struct error *err;
};

int changes_stale(struct error *err, const char *path)
{
	struct text_shown shown;

	(void)error_set(err, ERROR_DENIED, "%s changed on the host meanwhile; nothing was applied",
			text_show(&shown, sv_of(path)));
	err->code = ESTALE;
	return -1;
}

static int fail(struct build *b, int code, const struct change *c)
{
	struct text_shown shown;
	const char *path = text_show(&shown, sv_of(c->path));

	if (code == -ESTALE)
		return error_set(b->err, ERROR_DENIED, "%s changed while it was copied; is the run still going?", path);
	return error_sys(b->err, code, "prepare %s", path);
}

static int push(struct build *b, struct step step)
{
	struct journal *j = b->journal;
	size_t cap = b->cap ? b->cap * 2 : 64;
	struct step *v;

	if (j->n == b->cap) {
		v = reallocarray(j->steps, cap, sizeof(*v));
		if (!v)
			return error_sys(b->err, ENOMEM, "list of steps");
		j->steps = v;
		b->cap = cap;
	}
	if (!step.path)
		step.path = step.change->path;
	j->steps[j->n++] = step;
	return 0;
}

static bool is_folder_mode(const struct change *c)
{
	return !c->refused && c->kind == CHANGE_MODE && c->after.type == CHANGE_FOLDER;
}

static int push_mode(struct build *b, const struct change *c, uint64_t ino, mode_t from, mode_t to)
{
	return push(b, (struct step){.kind = STEP_MODE, .mode = {from, to}, .ino = ino, .change = c});
}

static int tick(struct build *b)
{
	int r = b->job->tick ? b->job->tick(b->job->ctx) : 0;

	return r < 0 ? error_sys(b->err, r, "prepare") : 0;
}

/* The folder of the staging tree that c goes to; top is the change that has the slot. */
static int open_staged_parent(struct build *b, uint32_t slot, const struct change *top, const struct change *c,
			      char path[PATH_MAX], const char **ret_name)
{
	char s[SLOT_NAME];

	if (snprintf(path, PATH_MAX, "%s%s", slot_name(s, slot), c->path + strlen(top->path)) >= PATH_MAX)
		return -ENAMETOOLONG;
	return open_parent(b->job->staging, path, ret_name);
}

static bool has_links(const struct change *c)
{
	return c->after.type == CHANGE_FILE && c->after.names > 1;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Seen as it was when its other name was staged. */
static bool is_same_file(const struct change *a, const struct change *b)
{
	return a->after.size == b->after.size && a->after.mode == b->after.mode &&
	       same_time(a->after.mtime, b->after.mtime) && same_time(a->after.ctime, b->after.ctime);
}

/* Another name of what was staged. What cannot be linked is copied. */
static bool link_staged(struct build *b, const struct hard_links *links, const struct stage *st, const struct change *c,
			int dir, const char *name)
{
	const struct hard_link *l = has_links(c) ? hard_links_find(links, c->after.dev, c->after.ino) : NULL;
	const char *last = NULL;
	AUTO_FD from = l && is_same_file(l->made_of, c) ? open_parent(b->job->staging, l->path, &last) : -1;
	gid_t group = stage_group(st, c);
	struct stat made;

	if (from < 0 || fstatat(from, last, &made, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (made.st_gid != (group == (gid_t)-1 ? getegid() : group))
		return false;
	return linkat(from, last, dir, name, 0) == 0;
}

static int stage_one(struct build *b, const struct stage *st, uint32_t slot, const struct change *top,
		     const struct change *c)
{
	char path[PATH_MAX];
	const char *name = NULL;
	AUTO_FD dir = open_staged_parent(b, slot, top, c, path, &name);
	struct hard_links *links = c == top ? &b->links : &b->in_folder;
	int r = dir < 0 ? dir : 0;

	if (r == 0 && !link_staged(b, links, st, c, dir, name)) {
		r = stage_object(st, c, dir, name);
		if (r == 0 && has_links(c))
			r = hard_links_add(links, c->after.dev, c->after.ino, path, 0, c);
	}
	return r < 0 ? fail(b, r, c) : tick(b);
}

static int close_one(struct build *b, const struct stage *st, uint32_t slot, const struct change *top,
		     const struct change *c)
{
	char path[PATH_MAX];
	const char *name = NULL;
	AUTO_FD dir = open_staged_parent(b, slot, top, c, path, &name);
	mode_t mode = stage_folder_mode(st, c);

	if (c == top)
		mode |= S_IWUSR; /* it has to be moved yet */
	if (dir < 0)
		return fail(b, dir, c);
	if (fchmodat(dir, name, mode, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(b, -errno, c);
	stage_times(c, dir, name);
	return 0;
}

/* Stages the change at `at` with all that comes back below it. */
static int stage_tree(struct build *b, const struct stage *st, uint32_t slot, size_t at)
{
	const struct changes *l = b->job->list;
	const struct change *top = &l->v[at], *c;
	size_t i, end = at + 1;

	hard_links_done(&b->in_folder);
	if (stage_one(b, st, slot, top, top) < 0)
		return -1;
	if (top->after.type != CHANGE_FOLDER)
		return 0;
	for (; end < l->n && path_is_below(l->v[end].path, top->path); end++)
		if (!l->v[end].refused && stage_one(b, st, slot, top, &l->v[end]) < 0)
			return -1;
	/* From the inside out: a folder may end up closed for its owner. */
	for (i = end; i-- > at;) {
		c = &l->v[i];
		if (!c->refused && c->after.type == CHANGE_FOLDER && close_one(b, st, slot, top, c) < 0)
			return -1;
	}
	return 0;
}

static int look_at_parent(struct build *b, const struct change *c, struct stat *ret)
{
	const char *name;
	AUTO_FD dir = open_parent(b->job->lower, c->path, &name);

	if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP)
		return changes_stale(b->err, c->path);
	if (dir < 0 || fstat(dir, ret) < 0)
		return fail(b, dir < 0 ? dir : -errno, c);
	return 0;
}

static int push_taken(struct build *b, const struct change *c)
{
	return push(b, (struct step){.kind = STEP_TAKE, .slot = b->slots++, .ino = c->before.ino, .change = c});
}

static bool opens(const struct change *c)
{
	return (c->after.mode & 0300) == 0300;
}

static const struct opened *find_opened(const struct build *b, const char *path)
{
	size_t i;

	for (i = b->n_opened; i-- > 0;) /* most often the last */
		if (strcmp(b->opened[i].path, path) == 0)
			return &b->opened[i];
	return NULL;
}

static int remember_opened(struct build *b, struct opened o)
{
	size_t cap = b->cap_opened ? b->cap_opened * 2 : 16;
	struct opened *v;

	if (b->n_opened == b->cap_opened) {
		v = reallocarray(b->opened, cap, sizeof(*v));
		if (!v)
			return error_sys(b->err, ENOMEM, "list of steps");
		b->opened = v;
		b->cap_opened = cap;
	}
	b->opened[b->n_opened++] = o;
	return 0;
}

static int push_opened(struct build *b, const struct opened *o, mode_t from, mode_t to)
{
	return push(b,
		    (struct step){
			    .kind = STEP_MODE, .mode = {from, to}, .ino = o->ino, .path = o->path, .change = o->below});
}

/* The folder that c is in is opened for us, where it is ours and a rename in it would fail. */
static int open_parent_of(struct build *b, const struct change *c)
{
	const char *slash = strrchr(c->path, '/');
	struct opened o = {.below = c};
	const struct change *folder;
	struct stat st;

	if (!slash || geteuid() == 0)
		return 0;
	if (look_at_parent(b, c, &st) < 0)
		return -1;
	if (st.st_uid != geteuid() || (st.st_mode & 0300) == 0300)
		return 0;
	o.path = arena_str(b->job->list->arena, sv_n(c->path, (size_t)(slash - c->path)));
	if (!o.path)
		return error_sys(b->err, ENOMEM, "list of steps");
	folder = changes_find(b->job->list, o.path);
	if ((folder && is_folder_mode(folder) && opens(folder)) || find_opened(b, o.path))
		return 0;
	o.ino = st.st_ino;
	o.mode = st.st_mode & 07777;
	return remember_opened(b, o) < 0 ? -1 : push_opened(b, &o, o.mode, o.mode | 0300);
}

/* Last ones first, as they are undone; those that are to have another mode get it later. */
static int close_opened(struct build *b)
{
	const struct change *folder;
	const struct opened *o;

	for (o = b->opened + b->n_opened; o-- > b->opened;) {
		folder = changes_find(b->job->list, o->path);
		if (!(folder && is_folder_mode(folder)) && push_opened(b, o, o->mode | 0300, o->mode) < 0)
			return -1;
	}
	return 0;
}

/* Steps for a change that brings something new to its path. */
static int build_new(struct build *b, size_t at)
{
	const struct change *c = &b->job->list->v[at];
	struct stat parent, made;
	struct stage st = {.upper_fd = b->job->upper, .parent = &parent};
	struct step step = {.kind = STEP_PUT, .slot = b->slots++, .change = c};
	char slot[SLOT_NAME];
	mode_t mode;

	if (look_at_parent(b, c, &parent) < 0 || stage_tree(b, &st, step.slot, at) < 0)
		return -1;
	if (fstatat(b->job->staging, slot_name(slot, step.slot), &made, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(b, -errno, c);
	step.ino = made.st_ino;
	if (c->before.type != CHANGE_NONE && b->job->can_swap)
		step.kind = STEP_SWAP;
	else if (c->before.type != CHANGE_NONE && push_taken(b, c) < 0)
		return -1;
	if (push(b, step) < 0)
		return -1;
	mode = stage_folder_mode(&st, c);
	if (c->after.type == CHANGE_FOLDER && !(mode & S_IWUSR))
		return push_mode(b, c, made.st_ino, mode | S_IWUSR, mode);
	return 0;
}

static int build_one(struct build *b, size_t at)
{
	const struct change *c = &b->job->list->v[at];

	if (is_folder_mode(c))
		return 0;
	/* A file with further names gets one of its own: they did not change. */
	if (c->kind == CHANGE_MODE && c->before.names == 1)
		return push_mode(b, c, c->before.ino, c->before.mode, c->after.mode & 0777);
	if (open_parent_of(b, c) < 0)
		return -1;
	/* Moving a folder writes to its "..". */
	if (c->before.type == CHANGE_FOLDER && !(c->before.mode & S_IWUSR) &&
	    push_mode(b, c, c->before.ino, c->before.mode, c->before.mode | S_IWUSR) < 0)
		return -1;
	return c->kind == CHANGE_DELETED ? push_taken(b, c) : build_new(b, at);
}

static int build_all(struct build *b)
{
	const struct changes *l = b->job->list;
	const struct change *top = NULL, *c;
	size_t i;

	for (i = 0; i < l->n; i++) {
		c = &l->v[i];
		if (is_folder_mode(c) && opens(c) && push_mode(b, c, c->before.ino, c->before.mode, c->after.mode) < 0)
			return -1;
	}
	for (i = 0; i < l->n; i++) {
		c = &l->v[i];
		if (c->refused || (top && path_is_below(c->path, top->path)))
			continue;
		top = c->kind == CHANGE_MODE || c->kind == CHANGE_MODIFIED ? NULL : c;
		if (build_one(b, i) < 0)
			return -1;
	}
	if (close_opened(b) < 0)
		return -1;
	for (i = l->n; i-- > 0;) {
		c = &l->v[i];
		if (is_folder_mode(c) && !opens(c) &&
		    push_mode(b, c, c->before.ino, c->before.mode | (find_opened(b, c->path) ? 0300 : 0),
			      c->after.mode) < 0)
			return -1;
	}
	return 0;
}

int steps_build(const struct steps_job *job, struct journal *j, struct error *err)
{
	struct build b = {.job = job, .journal = j, .err = err};
	int r = build_all(&b);

	hard_links_done(&b.links);
	hard_links_done(&b.in_folder);
	free(b.opened);
	return r;
}
