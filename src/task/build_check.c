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
static int check_step(const struct build_plan *p, const struct recipe_step *s, struct error *err)
{
	const struct context_sink sink = {ignore_entry, NULL};
	size_t tops;

	if (s->kind != RECIPE_COPY || s->from.origin != RECIPE_CONTEXT ||
	    context_walk(&p->context, s, &sink, &tops, err) == 0)
		return 0;
	return build_fail(p, s, err);
}

void build_check_files(const struct recipe *r, int context, const char *shown,
		       void (*tell)(void *arg, const char *text), void *arg)
{
	const struct build_plan p = {
		.recipe = r, .shown = shown, .context = {.root = context, .ignore = (const char *const *)r->ignore}};
	size_t k, j;

	for (k = 0; k < r->n_stages; k++)
		for (j = 0; j < r->stages[k].n_steps; j++) {
			struct error err = {0};

			if (check_step(&p, &r->stages[k].steps[j], &err) < 0)
				tell(arg, err.text);
		}
}

static void add(void *arg, const char *text)
{
	problems_add(arg, "%s", text);
}

int build_check(const struct build_request *req, struct problems *problems, struct error *err)
{
	struct build_plan p;
	size_t k;
	int r = build_plan_look(req, &p, err);

	for (k = 0; r == 0 && p.recipe->problems[k]; k++)
		problems_add(problems, "%s", p.recipe->problems[k]);
	if (r == 0)
		build_check_files(p.recipe, req->context, p.shown, add, problems);
	build_plan_done(&p);
	if (r < 0 && err->kind == ERROR_INPUT) {
		problems_add(problems, "%s", err->text);
		return 0;
	}
	return r;
}
