#include "policy/net_provider.h"

bool net_provider_rule_is_for(const struct net_rule *r, const struct net_host *h)
{
	bool is_for = net_rule_is_for(r, h);
	struct net_host carried;
	unsigned i;

	for (i = 0; !is_for && net_host_carried(h, i, &carried); i++)
		is_for = net_rule_is_for(r, &carried);
	return is_for;
}

static bool is_denied(const struct policy *p, const struct address *a, const struct net_request *request)
{
	struct net_question q;
	uint32_t i;

	net_question_address(&q, a, request->port);
	net_question_request(&q, request->method, request->target, request->asks);
	for (i = 0; i < p->net.deny.n; i++)
		if (net_provider_rule_is_for(&p->net.deny.v[i], &q.host) && net_rule_denies(&p->net.deny.v[i], &q))
			return true;
	return false;
}

enum net_why net_provider_address(const struct policy *p, const struct provider *provider, const struct address *a,
				  const struct net_request *request, bool fixed)
{
	if (provider->reach != REACH_ANY && is_denied(p, a, request))
		return WHY_DENIED;
	if (fixed)
		return WHY_RULE;
	return (provider->reach == REACH_PUBLIC ? address_floor(a) == FLOOR_NONE : net_rules_provider_address(a))
		       ? WHY_RULE
		       : WHY_FLOOR;
}
