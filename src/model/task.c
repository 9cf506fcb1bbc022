#include "model/task.h"

const char *const task_network_names[] = {"no-network", "allowlist", "public", NULL};
const char *const task_transport_names[] = {"stdio", "sse", "streamable-http", NULL};
const char *const task_steps_reward_names[] = {"mean", "final", NULL};

struct task *task_new(void)
{
	struct arena *a = arena_new();
	struct task *t = a ? arena_alloc(a, sizeof(*t)) : NULL;

	if (!t) {
		arena_free(a);
		return NULL;
	}
	t->arena = a;
	t->instruction = "";
	t->metadata = "{}";
	return t;
}

void task_free(struct task *t)
{
	if (t)
		arena_free(t->arena);
}

/* NULL: no memory. */
static const char *copy(struct arena *a, const char *s)
{
	return arena_str(a, sv_of(s ? s : ""));
}

void task_problem_add(struct task_problems *list, const struct task_problem *p)
{
	struct task_problem *to;

	if (!p->warning)
		list->refused++;
	if (!list->v)
		list->v = arena_array(list->arena, TASK_PROBLEMS_MAX, sizeof(*list->v));
	if (!list->v || list->n == TASK_PROBLEMS_MAX) {
		list->left_out++;
		return;
	}
	to = &list->v[list->n];
	*to = *p;
	to->file = copy(list->arena, p->file);
	to->key = copy(list->arena, p->key);
	to->what = copy(list->arena, p->what);
	if (to->file && to->key && to->what)
		list->n++;
	else
		list->left_out++;
}
