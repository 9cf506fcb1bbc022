#include "plan/plan_draft.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "plan/plan_build.h"

int draft_add(struct draft *d, const struct plan_op *op)
{
	struct plan *p = d->plan;
	struct plan_op *more;
	size_t room;

	if (p->n_ops >= PLAN_MAX_OPS)
		return error_set(d->err, ERROR_INPUT, "the policy finds more than %d paths to show or hide (last: %s); use wider patterns",
				 PLAN_MAX_OPS, op->why ? op->why : "");
	if (p->n_ops == d->ops_room) {
		room = d->ops_room ? 2 * d->ops_room : 96;
		more = realloc(p->ops, room * sizeof(*more));
		if (!more)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		p->ops = more;
		d->ops_room = room;
	}
	p->ops[p->n_ops++] = *op;
	return 0;
}

struct plan_guard *draft_guard(struct draft *d)
{
	struct plan *p = d->plan;
	struct plan_guard *more;
	size_t room;

	if (p->n_guards == d->guards_room) {
		room = d->guards_room ? 2 * d->guards_room : 96;
		more = realloc(p->guards, room * sizeof(*more));
		if (!more)
			return NULL;
		p->guards = more;
		d->guards_room = room;
	}
	p->guards[p->n_guards] = (struct plan_guard){0};
	return &p->guards[p->n_guards];
}

int draft_literal(struct buf *out, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[\\", *path))
			(void)buf_char(out, '\\');
		(void)buf_char(out, *path);
	}
	return buf_failed(out);
}

const char *draft_where(struct draft *d, struct origin at)
{
	const struct policy *p = d->policy;
	const char *file = at.file < p->n_files ? p->files[at.file] : "?";

	return at.line ? arena_printf(d->plan->arena, "%s:%u", file, at.line) : file;
}

const char *draft_rule(struct draft *d, const char *key, const struct pol_str *s)
{
	const char *where = draft_where(d, s->at);

	return where ? arena_printf(d->plan->arena, "%s %s (%s)", key, s->s, where) : NULL;
}

static int by_target(const void *a, const void *b)
{
	const struct plan_op *x = a, *y = b;
	int r = strcmp(x->target, y->target);

	if (r)
		return r;
	/* the same place twice: the wider access is laid over the narrower one, as policy_query has it */
	return (x->writable > y->writable) - (x->writable < y->writable);
}

void draft_sort(struct draft *d)
{
	if (d->plan->n_ops)
		qsort(d->plan->ops, d->plan->n_ops, sizeof(*d->plan->ops), by_target);
}

static bool covers(const struct plan_op *op)
{
	return op->kind == PLAN_MASK || op->kind == PLAN_PROTECT;
}

void draft_covers_last(struct draft *d)
{
	struct plan *p = d->plan;
	struct plan_op *sorted = arena_array(p->arena, p->n_ops + 1, sizeof(*sorted));
	size_t i, n = 0;

	if (!sorted)
		return; /* the arena remembers that it failed */
	for (i = 0; i < p->n_ops; i++)
		if (!covers(&p->ops[i]))
			sorted[n++] = p->ops[i];
	for (i = 0; i < p->n_ops; i++)
		if (covers(&p->ops[i]))
			sorted[n++] = p->ops[i];
	memcpy(p->ops, sorted, n * sizeof(*sorted));
}

struct expand {
	const struct glob *g;
	int (*found)(void *arg, const char *path);
	void *arg;
	struct buf path;
};

static int expand_from(struct expand *x, unsigned at);

static int expand_name(struct expand *x, unsigned at, struct sv name)
{
	size_t n = x->path.n;
	struct stat st;
	int r = 0;

	if (buf_char(&x->path, '/') < 0 || buf_sv(&x->path, name) < 0)
		return 0;
	if (lstat(x->path.p, &st) == 0)
		r = expand_from(x, at + 1);
	x->path.n = n;
	x->path.p[n] = '\0';
	return r;
}

static int expand_folder(struct expand *x, unsigned at)
{
	bool deep = x->g->stars >> at & 1;
	struct sv pattern = sv_n(x->g->text + x->g->start[at], x->g->len[at]);
	DIR *dir = opendir(x->path.n ? x->path.p : "/");
	struct dirent *e;
	int r = 0;

	if (!dir)
		return 0;
	while (r == 0 && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (deep && e->d_type == DT_DIR)
			r = expand_name(x, at - 1, sv_of(e->d_name)); /* stays at the "**" */
		else if (!deep && glob_component(pattern, sv_of(e->d_name)))
			r = expand_name(x, at, sv_of(e->d_name));
	}
	(void)closedir(dir);
	return r;
}

static int expand_from(struct expand *x, unsigned at)
{
	if (at == x->g->n)
		return x->found(x->arg, x->path.n ? x->path.p : "/");
	if (x->g->literal >> at & 1)
		return expand_name(x, at, sv_n(x->g->text + x->g->start[at], x->g->len[at]));
	if (x->g->stars >> at & 1 && expand_from(x, at + 1) < 0)
		return -1;
	return expand_folder(x, at);
}

int draft_expand(const struct glob *g, int (*found)(void *arg, const char *path), void *arg)
{
	struct expand x = {.g = g, .found = found, .arg = arg};
	int r;

	buf_init(&x.path, 4095);
	(void)buf_str(&x.path, "");
	r = expand_from(&x, 0);
	buf_done(&x.path);
	return r;
}

const struct plan_guard *draft_judge(const struct draft *d, const char *target, const char *source)
{
	const struct plan_guard *g;
	size_t i;

	for (i = 0; i < d->plan->n_guards; i++) {
		g = &d->plan->guards[i];
		if (g->hidden && (glob_hit(&g->glob, sv_of(target)) || glob_hit(&g->glob, sv_of(source))))
			return g;
	}
	return NULL;
}
