#include "gate/egress/generation.h"

#include <errno.h>

#include "base/cleanup.h"
#include "policy/policy_codec.h"

int generation_read(int fd, uint64_t number, const struct generation *before, struct generation **ret,
		    struct error *err)
{
	struct generation *g;
	int r;

	g = calloc(1, sizeof(*g));
	if (!g)
		return error_sys(err, ENOMEM, "policy");
	g->refs = 1;
	g->number = number;
	r = policy_decode_fd(fd, &g->policy);
	if (r == 0)
		g->rules = before ? net_rules_after(before->rules, g->policy) : net_rules_new(g->policy);
	if (g->rules)
		g->recent = net_recent_new(g->rules);
	if (g->recent)
		g->budgets = calloc(net_rules_budgets(g->rules) + 1, sizeof(*g->budgets));
	if (!g->budgets) {
		generation_unref(g);
		return error_sys(err, r < 0 ? r : ENOMEM, "policy");
	}
	*ret = g;
	return 0;
}

struct generation *generation_ref(struct generation *g)
{
	g->refs++;
	return g;
}

void generation_unref(struct generation *g)
{
	if (!g || --g->refs > 0)
		return;
	free(g->budgets);
	net_recent_free(g->recent);
	net_rules_free(g->rules);
	if (g->policy)
		policy_free(g->policy);
	free(g);
}

bool generation_needs_grants(const struct generation *g)
{
	const struct policy *p = g->policy;
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++)
		if (p->net.allow.v[i].credential.s)
			return true;
	for (i = 0; i < p->inference.n_providers; i++)
		if (p->inference.providers[i].credential.s)
			return true;
	return false;
}
