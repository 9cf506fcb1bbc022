#include "policy/net_cover.h"

#include "base/cleanup.h"
#include "base/method.h"
#include "policy/net_judge.h"
#include "policy/policy_cover.h"

static const uint16_t usual_ports[] = {443, 80};

static bool is_given(const struct pol_list *l)
{
	return l->set || l->n;
}

bool net_rule_reaches(const struct net_rule *outer, const struct net_rule *inner)
{
	if (outer->cidr)
		return inner->cidr ? net_cidr_covers(outer->cidr, inner->cidr)
				   : net_cidr_has(outer->cidr, sv_of(inner->host));
	return !inner->cidr && net_host_covers(outer->host, inner->host);
}

bool net_rule_has_method(const struct net_rule *r, struct sv method)
{
	return is_given(&r->methods) ? net_method_in(&r->methods, method) : method_is_known(method);
}

static bool has_mcp(const struct net_rule *r)
{
	return is_given(&r->mcp.tools) || is_given(&r->mcp.methods);
}

bool net_rule_only_posts(const struct net_rule *r)
{
	return has_mcp(r) && !is_given(&r->paths);
}

static bool methods_cover(const struct net_rule *outer, const struct net_rule *inner)
{
	uint32_t i;

	if (!is_given(&inner->methods))
		return !is_given(&outer->methods);
	for (i = 0; i < inner->methods.n; i++)
		if (!net_rule_has_method(outer, sv_of(inner->methods.v[i].s)))
			return false;
	return true;
}

static bool ports_cover(const struct net_rule *outer, const struct net_rule *inner)
{
	const uint16_t *v = inner->n_ports ? inner->ports : usual_ports;
	uint32_t n = inner->n_ports ? inner->n_ports : ARRAY_LEN(usual_ports), i;

	for (i = 0; i < n; i++)
		if (!net_port_allowed(outer, v[i]))
			return false;
	return true;
}

/* Where outer has a list, each of inner's is within it. */
static bool list_covers(const struct cover_kind *kind, const struct pol_list *outer, const struct pol_list *inner)
{
	uint32_t i;

	if (!is_given(outer))
		return true;
	for (i = 0; i < inner->n; i++)
		if (!cover_by_list(kind, outer, inner->v[i].s))
			return false;
	return is_given(inner);
}

static bool calls_cover(const struct net_rule *outer, const struct net_rule *inner)
{
	if (net_rule_only_posts(outer) && !net_rule_only_posts(inner) &&
	    (net_rule_has_method(inner, sv_of("GET")) || net_rule_has_method(inner, sv_of("DELETE"))))
		return false;
	return list_covers(&cover_model, &outer->graphql.types, &inner->graphql.types) &&
	       list_covers(&cover_model, &outer->graphql.operations, &inner->graphql.operations) &&
	       list_covers(&cover_model, &outer->mcp.tools, &inner->mcp.tools) &&
	       list_covers(&cover_model, &outer->mcp.methods, &inner->mcp.methods);
}

bool net_rule_covers(const struct net_rule *outer, const struct net_rule *inner)
{
	/* a credential alone keeps requests to another host behind the same server away */
	if (net_rule_minds_host(outer) && !net_rule_minds_host(inner))
		return false;
	return net_rule_reaches(outer, inner) && ports_cover(outer, inner) && methods_cover(outer, inner) &&
	       list_covers(&cover_url, &outer->paths, &inner->paths) && calls_cover(outer, inner);
}

static bool ports_meet(const struct net_rule *a, const struct net_rule *b)
{
	const uint16_t *v = a->n_ports ? a->ports : usual_ports;
	uint32_t n = a->n_ports ? a->n_ports : ARRAY_LEN(usual_ports), i;

	for (i = 0; i < n; i++)
		if (net_port_allowed(b, v[i]))
			return true;
	return false;
}

static bool methods_meet(const struct net_rule *a, const struct net_rule *b)
{
	const struct net_rule *with = is_given(&a->methods) ? a : b, *other = with == a ? b : a;
	uint32_t i;

	for (i = 0; i < with->methods.n; i++)
		if (net_rule_has_method(other, sv_of(with->methods.v[i].s)))
			return true;
	return !is_given(&with->methods);
}

static bool paths_meet(const struct pol_list *a, const struct pol_list *b)
{
	uint32_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (!cover_url.apart(a->v[i].s, b->v[k].s))
				return true;
	return !is_given(a) || !is_given(b);
}

bool net_rule_meets(const struct net_rule *a, const struct net_rule *b)
{
	return (net_rule_reaches(a, b) || net_rule_reaches(b, a)) && ports_meet(a, b) && methods_meet(a, b) &&
	       paths_meet(&a->paths, &b->paths);
}

static bool ports_denied(const struct net_rule *outer, const struct net_rule *inner)
{
	uint32_t i;

	if (outer->n_ports == 0)
		return true;
	for (i = 0; i < inner->n_ports; i++)
		if (!net_port_denied(outer, inner->ports[i]))
			return false;
	return inner->n_ports > 0;
}

static bool methods_denied(const struct pol_list *outer, const struct pol_list *inner)
{
	uint32_t i;

	if (outer->n == 0)
		return true;
	for (i = 0; i < inner->n; i++)
		if (!net_method_denied(outer, sv_of(inner->v[i].s)))
			return false;
	return inner->n > 0;
}

bool net_denial_covers(const struct net_rule *outer, const struct net_rule *inner)
{
	return net_rule_reaches(outer, inner) && ports_denied(outer, inner) &&
	       methods_denied(&outer->methods, &inner->methods) &&
	       list_covers(&cover_url, &outer->paths, &inner->paths);
}
