#include "base/text.h"
#include "task/build_parts.h"

static int ignore_entry(void *arg, const struct context_entry *e, struct error *err)
{
	(void)arg;
	(void)e;
	(void)err;
	return 0;
}

/* Are the files there that the step copies? */
static void check_files(const struct build_plan *p, const struct recipe_step *s, struct problems *problems)
{
	const struct context_sink sink = {ignore_entry, NULL};
	struct error err = {0};
	size_t tops;

	if (s->kind != RECIPE_COPY || s->from.origin != RECIPE_CONTEXT || context_walk(&p->context, s, &sink, &tops, &err) == 0)
		return;
	(void)build_fail(p, s, &err);
	problems_add(problems, "%s", err.text);
}

int build_check(const struct build_request *req, struct problems *problems, struct error *err)
{
	struct build_plan p;
	size_t k, j;
	int r = build_plan_look(req, &p, err);

	for (k = 0; r == 0 && p.recipe->problems[k]; k++)
		problems_add(problems, "%s", p.recipe->problems[k]);
	for (k = 0; r == 0 && k < p.recipe->n_stages; k++)
		for (j = 0; j < p.recipe->stages[k].n_steps; j++)
			check_files(&p, &p.recipe->stages[k].steps[j], problems);
	build_plan_done(&p);
	if (r < 0 && err->kind == ERROR_INPUT) {
		problems_add(problems, "%s", err->text);
		return 0;
	}
	return r;
}
