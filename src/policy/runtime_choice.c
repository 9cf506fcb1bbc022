#include "policy/runtime_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/policy_where.h"

static const struct pol_pair *find(const struct pol_pairs *pairs, const char *category)
{
	uint32_t i;

	for (i = 0; pairs && i < pairs->n; i++)
		if (strcmp(pairs->v[i].key, category) == 0)
			return &pairs->v[i];
	return NULL;
}

/* Code that nobody has read does not get to speak to the host's kernel. */
static enum runtime own_choice(const char *category)
{
	static const char *const risky[] = {"code_execution", "terminal"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(risky); i++)
		if (strcmp(category, risky[i]) == 0)
			return RUNTIME_GVISOR;
	return RUNTIME_NATIVE;
}

enum runtime runtime_of_category(const struct pol_pairs *pairs, const char *category)
{
	const struct pol_pair *pair = find(pairs, category);
	int named = pair ? name_index(runtime_names, sv_of(pair->value)) : RUNTIME_AUTO;

	return named > RUNTIME_AUTO ? (enum runtime)named : own_choice(category);
}

static struct runtime_candidate *add(struct runtime_choice *c, enum runtime runtime)
{
	unsigned i;

	for (i = 0; i < c->n; i++)
		if (c->v[i].runtime == runtime)
			return NULL;
	c->v[c->n] = (struct runtime_candidate){.runtime = runtime};
	return &c->v[c->n++];
}

static void name_category(const struct policy *p, const char *category, struct runtime_candidate *to)
{
	const struct pol_pair *pair = find(&p->process.categories, category);

	if (pair && pair->at.file)
		(void)snprintf(to->reason, sizeof(to->reason), "process.categories.%s, %.240s", category,
			       policy_where(p, pair->at));
	else
		(void)snprintf(to->reason, sizeof(to->reason), "the default of the category %s", category);
}

static void choose_first(const struct policy *p, const char *asked, struct runtime_choice *ret)
{
	const struct pol_num *named = &p->process.runtime;
	struct runtime_candidate *to;

	if (named->v != RUNTIME_AUTO) {
		to = add(ret, (enum runtime)named->v);
		if (asked && named->at.file == 0)
			(void)snprintf(to->reason, sizeof(to->reason), "--runtime");
		else
			(void)snprintf(to->reason, sizeof(to->reason), "process.runtime, %.240s",
				       policy_where(p, named->at));
	} else if (ret->category) {
		to = add(ret, runtime_of_category(&p->process.categories, ret->category));
		name_category(p, ret->category, to);
	} else {
		to = add(ret, RUNTIME_NATIVE);
		(void)snprintf(to->reason, sizeof(to->reason), "no category was given");
	}
}

void runtime_choose(const struct policy *p, const char *asked, const char *category, struct runtime_choice *ret)
{
	const struct pol_list *fallback = &p->process.fallback;
	struct runtime_candidate *to;
	uint32_t i;
	int named;

	*ret = (struct runtime_choice){.category = category};
	choose_first(p, asked, ret);
	for (i = 0; i < fallback->n; i++) {
		named = name_index(runtime_names, sv_of(fallback->v[i].s));
		to = named > RUNTIME_AUTO ? add(ret, (enum runtime)named) : NULL;
		if (to)
			(void)snprintf(to->reason, sizeof(to->reason), "process.fallback, %.240s",
				       policy_where(p, fallback->v[i].at));
	}
}

void runtime_advise(const struct policy *p, const struct runtime_choice *choice, struct buf *out)
{
	const char *other = choice->v[0].runtime == RUNTIME_NATIVE ? "runc" : "native";

	if (choice->n > 1)
		(void)buf_printf(out, "process.fallback (%s) names nothing further",
				 policy_where(p, p->process.fallback.v[0].at));
	else
		(void)buf_printf(out,
				 "`process: {fallback: [%s]}` in the policy would let %s take its place (in the "
				 "operator's policy.yaml too, where that names a runtime or a category)",
				 other, other);
}
