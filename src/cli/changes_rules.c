#include "cli/changes_rules.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/text.h"
#include "policy/policy_codec.h"

/* The list, and behind it what the plan keeps from being written, or from being seen. -1: out of memory. */
static int with_own(const struct pol_list *list, const struct plan *plan, bool hidden, struct arena *arena,
		    struct pol_list *ret)
{
	size_t i, n = list->n;

	ret->set = true;
	ret->n = list->n;
	for (i = 0; plan && i < plan->n_guards; i++)
		n += plan->guards[i].of_run;
	ret->v = arena_array(arena, n + 1, sizeof(*ret->v));
	if (!ret->v)
		return -1;
	for (i = 0; i < list->n; i++)
		ret->v[i] = list->v[i];
	for (i = 0; plan && i < plan->n_guards; i++)
		if (plan->guards[i].of_run && plan->guards[i].hidden == hidden)
			ret->v[ret->n++] = (struct pol_str){.s = plan->guards[i].glob.text};
	return 0;
}

static int own_files(const struct policy *policy, const struct plan *plan, struct arena *arena, struct policy *ret,
		     struct error *err)
{
	*ret = *policy;
	if (!arena || with_own(&policy->fs.deny, plan, true, arena, &ret->fs.deny) < 0 ||
	    with_own(&policy->fs.protect, plan, false, arena, &ret->fs.protect) < 0)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	return 0;
}

/* All of them: whoever judges by a part of a list lets pass what the rest is for. */
static int compile(const struct pol_list *list, struct glob **ret, size_t *ret_n, struct error *err)
{
	struct text_shown shown;
	uint32_t i;
	int r;

	*ret_n = 0;
	*ret = calloc(list->n + 1, sizeof(**ret));
	for (i = 0; *ret && i < list->n; i++) {
		r = glob_init(&(*ret)[i], sv_of(list->v[i].s));
		if (r < 0 && r != -ENOMEM)
			return error_set(err, ERROR_INPUT, "%s: not a path pattern; nothing can be judged by it",
					 text_show(&shown, sv_of(list->v[i].s)));
		if (r < 0)
			break;
		*ret_n = i + 1;
	}
	return *ret && *ret_n == list->n ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}

static void free_globs(struct glob *v, size_t n)
{
	while (n)
		glob_done(&v[--n]);
	free(v);
}

int changes_patterns_init(struct changes_patterns *p, const struct policy *policy, const struct plan *plan,
			  struct error *err)
{
	struct arena *arena = arena_new();
	struct policy all;
	int r = own_files(policy, plan, arena, &all, err);

	*p = (struct changes_patterns){0};
	if (r == 0)
		r = compile(&all.fs.deny, &p->deny, &p->n_deny, err);
	if (r == 0)
		r = compile(&all.fs.protect, &p->protect, &p->n_protect, err);
	if (r == 0)
		r = compile(&all.fs.read, &p->read, &p->n_read, err);
	arena_free(arena);
	return r;
}

int changes_policy_encode(const struct policy *policy, const struct plan *plan, struct buf *out, struct error *err)
{
	struct arena *arena = arena_new();
	struct policy all;
	int r = own_files(policy, plan, arena, &all, err);

	if (r == 0 && policy_encode(&all, out) < 0)
		r = error_set(err, ERROR_SYSTEM, "out of memory");
	arena_free(arena);
	return r;
}

void changes_patterns_done(struct changes_patterns *p)
{
	free_globs(p->deny, p->n_deny);
	free_globs(p->protect, p->n_protect);
	free_globs(p->read, p->n_read);
	*p = (struct changes_patterns){0};
}

void changes_rules_take(struct changes_rules *rules, const struct changes_patterns *p)
{
	rules->deny = p->deny;
	rules->n_deny = p->n_deny;
	rules->protect = p->protect;
	rules->n_protect = p->n_protect;
	rules->read = p->read;
	rules->n_read = p->n_read;
}
