#include "sandbox/common/cover_trees.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

static bool shows(const struct plan_op *op)
{
	return op->kind == PLAN_BIND || op->kind == PLAN_TMPFS || op->kind == PLAN_SHOW || op->kind == PLAN_DEVICE ||
	       op->kind == PLAN_PROC || op->kind == PLAN_PTS;
}

/* What is seen at target: the last that was laid there. */
static const struct plan_op *seen_at(const struct plan *p, const char *target)
{
	const struct plan_op *op, *found = NULL;

	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (shows(op) && path_is_in(target, op->target))
			found = op;
	return found;
}

/* A folder that is covered as a whole: its mask goes with it, when it is empty and nothing can be seen. */
static bool is_masked(const struct plan *p, const struct plan_op *shown)
{
	const struct plan_op *op;

	for (op = p->ops; op < p->ops + p->n_ops; op++)
		if (op->kind == PLAN_MASK && strcmp(op->target, shown->target) == 0)
			return true;
	return false;
}

static struct cover_tree *tree_of(const struct cover_trees *s, const struct plan_op *op)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->v[i].op == op)
			return &s->v[i];
	return NULL;
}

static int add_tree(struct cover_trees *s, const struct plan_op *op)
{
	struct cover_tree *t = &s->v[s->n];
	int r;

	*t = (struct cover_tree){.op = op, .fd = -1, .searched = op->host};
	r = sys_facts_at(AT_FDCWD, op->source, &t->is);
	s->n += r == 0;
	return r;
}

/* A mask on something of the host that is not written to from inside. */
static int note_mask(struct cover_trees *s, struct cover_known *known, const struct plan_op *mask)
{
	const struct plan_op *op = seen_at(s->plan, mask->target);
	struct sys_facts is = {0};
	char path[PATH_MAX];
	int r;

	if (!op || op->kind != PLAN_BIND || !op->folder || op->writable || strcmp(op->target, mask->target) == 0)
		return 0;
	if (!tree_of(s, op)) {
		r = is_masked(s->plan, op) ? -ENOENT : add_tree(s, op);
		if (r < 0)
			return r == -ENOENT ? 0 : r;
	}
	if ((size_t)snprintf(path, sizeof(path), "%s%s", op->source, mask->target + strlen(op->target)) >= sizeof(path))
		return -ENAMETOOLONG;
	(void)sys_facts_at(AT_FDCWD, path, &is);
	return cover_known_set(known, mask->target, &is);
}

static int note_all(struct cover_trees *s, struct cover_known *known)
{
	const struct plan_op *op, *end = s->plan->ops + s->plan->n_ops;
	int r = 0;

	for (op = s->plan->ops; r == 0 && op < end; op++) {
		if (op->kind == PLAN_BIND && op->host && op->folder && !op->writable && !is_masked(s->plan, op))
			r = add_tree(s, op);
		else if (op->kind == PLAN_MASK)
			r = note_mask(s, known, op);
	}
	return r;
}

int cover_trees_init(struct cover_trees *s, const struct plan *plan, struct cover_known *known)
{
	*s = (struct cover_trees){.plan = plan, .v = calloc(plan->n_ops + 1, sizeof(*s->v))};
	return s->v ? note_all(s, known) : -ENOMEM;
}

void cover_trees_done(struct cover_trees *s)
{
	free(s->v);
	*s = (struct cover_trees){0};
}

const struct cover_tree *cover_trees_at(const struct cover_trees *s, const char *target)
{
	return tree_of(s, seen_at(s->plan, target));
}

const char *cover_tree_below(const struct cover_tree *t, const char *target)
{
	const char *rest = target + strlen(t->op->target);

	return *rest == '/' ? rest + 1 : rest;
}

bool cover_tree_stands(const struct cover_tree *t)
{
	struct sys_facts is;

	return sys_facts_at(AT_FDCWD, t->op->source, &is) == 0 && cover_is_same(&is, &t->is);
}
