#include "task/env.h"

#include "base/text.h"
#include "conf/value.h"

/* How far keys may lead to each other; further is a circle, or as good as one. */
enum { STEPS_MAX = 16 };

int task_env_template(struct arena *a, const char *value, struct task_env_template *ret)
{
	struct sv all = sv_of(value), name;
	const char *mark;

	if (!sv_starts(all, "${") || !sv_ends(all, "}"))
		return 0;
	name = sv_n(all.p + 2, all.n - 3);
	ret->fallback = NULL;
	mark = memmem(name.p, name.n, ":-", 2);
	if (mark) {
		ret->fallback = arena_str(a, sv_n(mark + 2, (size_t)(name.p + name.n - mark - 2)));
		name.n = (size_t)(mark - name.p);
		if (!ret->fallback)
			return -1;
	}
	return value_env_name(a, name, &ret->name) ? -1 : 1;
}

static const char *find(const struct pol_pairs *table, const char *name)
{
	uint32_t i;

	for (i = 0; table && i < table->n; i++)
		if (strcmp(table->v[i].key, name) == 0)
			return table->v[i].value;
	return NULL;
}

static int fail_template(const char *key, const char *value, const char *what, struct error *err)
{
	struct text_shown k, v;

	return error_set(err, ERROR_INPUT, "%.100s: \"%.100s\" %s", text_show(&k, sv_of(key)),
			 text_show(&v, sv_of(value)), what);
}

/* Follows templates from key's value to a literal. */
static int follow(const struct pol_pairs *table, const char *key, const char *value, const struct task_env_scope *scope,
		  struct arena *a, const char **ret, struct error *err)
{
	struct task_env_template t;
	const char *first = value, *found;
	unsigned steps;
	int r;

	for (steps = 0; steps < STEPS_MAX; steps++) {
		r = task_env_template(a, value, &t);
		if (r < 0)
			return fail_template(
				key, value,
				"is not ${NAME} or ${NAME:-default}; use letters, digits and _ for the name", err);
		if (r == 0) {
			*ret = value;
			return 0;
		}
		found = find(scope->runner, t.name);
		if (!found && strcmp(t.name, key) != 0)
			found = find(table, t.name);
		if (!found)
			found = find(scope->others, t.name);
		if (!found && !t.fallback)
			return fail_template(key, value,
					     "names a variable of the host's, which a task never sees; write a default "
					     "(${NAME:-default}), or the value itself",
					     err);
		if (!found) {
			*ret = t.fallback;
			return 0;
		}
		value = found;
	}
	return fail_template(key, first, "leads to itself", err);
}

static int resolve_granted(const struct pol_pair *pair, const struct task_env_scope *scope, struct arena *a,
			   struct task_env_value *ret, struct error *err)
{
	struct task_env_template t;
	int r = task_env_template(a, pair->value, &t);

	if (r < 0)
		return fail_template(pair->key, pair->value,
				     "is not ${NAME} or ${NAME:-default}; use letters, digits and _ for the name", err);
	ret->value = pair->value;
	if (r == 0)
		return 0;
	ret->credential = scope->credential(scope->arg, t.name);
	ret->value = ret->credential ? NULL : t.fallback;
	if (!ret->credential && !t.fallback)
		return fail_template(pair->key, pair->value,
				     "asks for a secret that nobody granted; where the task may have it, write "
				     "\"verifier_env: NAME\" to that credential in credentials.yaml",
				     err);
	return 0;
}

int task_env_resolve(const struct pol_pairs *table, uint32_t i, const struct task_env_scope *scope, struct arena *a,
		     struct task_env_value *ret, struct error *err)
{
	const struct pol_pair *pair = &table->v[i];

	*ret = (struct task_env_value){.name = pair->key};
	if (scope->credential)
		return resolve_granted(pair, scope, a, ret, err);
	return follow(table, pair->key, pair->value, scope, a, &ret->value, err);
}
