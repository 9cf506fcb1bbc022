#include "task/review.h"

#include <stdio.h>

#include "base/text.h"
#include "task/env.h"
#include "task/format.h"

const char *review_grant(void *credentials, const char *name)
{
	const struct credentials *c = credentials;
	uint32_t i;

	for (i = 0; c && i < c->n; i++)
		if (c->v[i].verifier_env && strcmp(c->v[i].verifier_env, name) == 0)
			return c->v[i].name;
	return NULL;
}

struct reviewing {
	const struct task *t;
	struct task_problems *problems;
	struct arena *arena;
};

static void check_table(struct reviewing *r, const char *key, bool warning, const struct pol_pairs *table, const struct task_env_scope *scope)
{
	struct task_env_value value;
	struct error err;
	uint32_t i;

	for (i = 0; i < table->n; i++)
		if (task_env_resolve(table, i, scope, r->arena, &value, &err) < 0)
			task_problem_add(r->problems, &(struct task_problem){.warning = warning,
									     .file = r->t->files.config,
									     .line = table->v[i].at.line,
									     .column = table->v[i].at.column,
									     .key = key,
									     .what = err.text});
}

static void check_commands(struct reviewing *r, const char *key, const struct task_commands *v, const struct task_env_scope *scope)
{
	uint32_t i;

	for (i = 0; i < v->n; i++)
		check_table(r, key, false, &v->v[i].env, scope);
}

static void check_environment(struct reviewing *r, const char *key, const struct task_environment *e, const struct task_env_scope *outer)
{
	struct task_env_scope scope = *outer;
	uint32_t i;

	check_table(r, key, false, &e->env, outer);
	scope.others = &e->env;
	check_commands(r, "setup_commands.env", &e->setup, &scope);
	for (i = 0; i < e->n_mcp; i++) {
		check_table(r, "mcp_servers.env", false, &e->mcp[i].env, &scope);
		check_table(r, "mcp_servers.headers", false, &e->mcp[i].headers, &scope);
	}
}

static void check_verifier(struct reviewing *r, const struct task_verifier *v, const struct task_env_scope *granted, const struct task_env_scope *plain)
{
	check_table(r, "verifier.env", false, &v->env, granted);
	check_commands(r, "verifier.collect.env", &v->collect, plain);
	if (v->environment)
		check_environment(r, "verifier.environment.env", v->environment, plain);
}

static void check_env(struct reviewing *r, const struct credentials *credentials)
{
	struct task_env_scope plain = {0}, inside = {.others = &r->t->environment.env};
	struct task_env_scope granted = {.credential = review_grant, .arg = (void *)(uintptr_t)credentials};
	uint32_t i;

	check_environment(r, "environment.env", &r->t->environment, &plain);
	/* only the oracle misses it, and says so when it is run */
	check_table(r, "solution.env", true, &r->t->solution.env, &inside);
	check_verifier(r, &r->t->verifier, &granted, &inside);
	for (i = 0; i < r->t->n_steps; i++)
		check_verifier(r, &r->t->steps[i].verifier, &granted, &inside);
}

static int refuse(const struct task_problems *p, struct error *err)
{
	uint32_t i;

	for (i = 0; i < p->n && p->v[i].warning; i++)
		;
	if (i == p->n)
		return error_set(err, ERROR_INPUT, "the task is refused");
	return error_set(err, ERROR_INPUT, "%.100s:%u:%u: %.60s: %.300s", p->v[i].file, p->v[i].line, p->v[i].column, p->v[i].key, p->v[i].what);
}

int review_task(int folder, const struct review *with, struct task **ret, struct task_problems *problems, struct error *err)
{
	struct task *t;
	struct reviewing r = {.problems = problems};

	if (format_load(folder, with->lenient, &t, problems, err) < 0)
		return -1;
	r.t = t;
	r.arena = t->arena;
	check_env(&r, with->credentials);
	if (problems->refused == 0) {
		*ret = t;
		return 0;
	}
	(void)refuse(problems, err);
	task_free(t);
	return -1;
}
