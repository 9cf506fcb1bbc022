#include "cli/changes_rules.h"

#include <stdlib.h>

static struct glob *compile(const struct pol_list *list, size_t *ret_n)
{
	struct glob *v = calloc(list->n + 1, sizeof(*v));
	uint32_t i;

	*ret_n = 0;
	for (i = 0; v && i < list->n; i++)
		if (glob_init(&v[*ret_n], sv_of(list->v[i].s)) == 0)
			(*ret_n)++;
	return v;
}

static void free_globs(struct glob *v, size_t n)
{
	while (n)
		glob_done(&v[--n]);
	free(v);
}

int changes_patterns_init(struct changes_patterns *p, const struct policy *policy, struct error *err)
{
	p->deny = compile(&policy->fs.deny, &p->n_deny);
	p->protect = compile(&policy->fs.protect, &p->n_protect);
	return p->deny && p->protect ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}

void changes_patterns_done(struct changes_patterns *p)
{
	free_globs(p->deny, p->n_deny);
	free_globs(p->protect, p->n_protect);
	*p = (struct changes_patterns){0};
}

void changes_rules_take(struct changes_rules *rules, const struct changes_patterns *p)
{
	rules->deny = p->deny;
	rules->n_deny = p->n_deny;
	rules->protect = p->protect;
	rules->n_protect = p->n_protect;
}
