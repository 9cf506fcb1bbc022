/* Variables of a task's sandboxes: the image's, then the task's. Nothing of this machine's environment is ever looked
 * at. */
#include <string.h>

#include "task/env.h"
#include "task/flow.h"
#include "task/review.h"
#include "task/services.h"

static int add_pair(struct flow *f, struct flow_env *e, const char *pair)
{
	size_t n = strcspn(pair, "=") + 1, i;

	for (i = 0; i < e->n; i++)
		if (strncmp(e->v[i], pair, n) == 0) {
			e->v[i] = pair;
			return 0;
		}
	if (e->n == FLOW_ENV) {
		(void)error_set(f->err, ERROR_INPUT, "more than %d variables", FLOW_ENV);
		return flow_fail(f, TASK_REFUSED);
	}
	e->v[e->n++] = pair;
	return 0;
}

int flow_env_add(struct flow *f, struct flow_env *e, const char *name, const char *value)
{
	const char *pair = arena_printf(f->arena, "%s=%s", name, value);

	return pair ? add_pair(f, e, pair) : flow_no_memory(f);
}

static int add_table(struct flow *f, struct flow_env *e, const struct pol_pairs *table,
		     const struct task_env_scope *scope, struct flow_grants *grants)
{
	struct task_env_value v;
	uint32_t i;

	for (i = 0; i < table->n; i++) {
		if (task_env_resolve(table, i, scope, f->arena, &v, f->err) < 0)
			return flow_fail(f, TASK_REFUSED);
		if (!v.credential) {
			if (flow_env_add(f, e, v.name, v.value) < 0)
				return -1;
			continue;
		}
		if (!grants || grants->n == FLOW_GRANTS) {
			(void)error_set(f->err, ERROR_INPUT, "%s: a verifier gets at most %d credentials", v.name,
					FLOW_GRANTS);
			return flow_fail(f, TASK_REFUSED);
		}
		grants->v[grants->n++] = (struct task_grant){v.name, v.credential};
	}
	return 0;
}

int flow_env_table(struct flow *f, struct flow_env *e, const struct pol_pairs *table)
{
	struct task_env_scope scope = {.others = &f->task->environment.env};

	return add_table(f, e, table, &scope, NULL);
}

int flow_env_verifier(struct flow *f, struct flow_env *e, const struct pol_pairs *table, struct flow_grants *grants)
{
	struct task_env_scope scope = {.others = &f->task->environment.env,
				       .credential = review_grant,
				       .arg = (void *)(uintptr_t)f->req->credentials};

	return add_table(f, e, table, &scope, grants);
}

int flow_env_pairs(struct flow *f, struct flow_env *e, const char *const *pairs)
{
	for (; pairs && *pairs; pairs++)
		if (add_pair(f, e, *pairs) < 0)
			return -1;
	return 0;
}

int flow_environment(struct flow *f, const struct image *image, struct flow_env *ret)
{
	if (flow_env_pairs(f, ret, (const char *const *)image->config.env) < 0)
		return -1;
	/* before the task's own tables, and for whoever asks what the verifier loads from where (carry.h) */
	return services_env(f, ret) < 0 ? -1 : flow_env_table(f, ret, &f->task->environment.env);
}
