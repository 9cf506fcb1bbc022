#include "policy/ceiling_door.h"

#include "policy/net_judge.h"
#include "policy/policy_merge.h"
#include "policy/policy_where.h"

bool ceiling_door_address(const struct pol_inference *inf, const char *host)
{
	struct net_host asked, h;
	uint32_t i;

	net_host_read(sv_of(host), &asked);
	for (i = 0; asked.is_address && i < inf->n_providers; i++) {
		net_provider_host(&inf->providers[i], &h);
		if (h.is_address && address_same(&h.address, &asked.address))
			return true;
	}
	return false;
}

int ceiling_door_shut(struct policy *request, const struct net_host *h, struct origin at, struct error *err)
{
	struct net_rule *rule = arena_alloc(request->arena, sizeof(*rule));
	struct net_rules deny = {.v = rule, .n = 1, .set = true};

	if (!rule)
		return policy_no_memory(err);
	*rule = (struct net_rule){.host = arena_str(request->arena, sv_n(h->text, h->n)), .at = at};
	return !rule->host || merge_rules(request->arena, &request->net.deny, &deny) < 0 ? policy_no_memory(err) : 0;
}

static bool has_door(const struct pol_inference *inf, const struct net_host *h)
{
	struct net_host other;
	uint32_t i;

	for (i = 0; inf && i < inf->n_providers; i++) {
		net_provider_host(&inf->providers[i], &other);
		if (sv_eq(sv_n(other.text, other.n), sv_n(h->text, h->n)))
			return true;
	}
	return false;
}

/* What is left of the rules for a host both sides allow: what one side's mode public adds is denied already where it
 * is more (ceiling_net.c). */
static bool has_rule(const struct policy *request, const struct net_host *h)
{
	uint32_t i;

	for (i = 0; i < request->net.allow.n; i++)
		if (net_rule_is_for(&request->net.allow.v[i], h))
			return true;
	return false;
}

/* To all but the rules. */
static int leave_to_rules(struct policy *request, const struct net_host *h, struct origin at, struct error *err)
{
	struct pol_str *host = arena_alloc(request->arena, sizeof(*host));
	struct pol_list one = {.v = host, .n = 1, .set = true};

	if (!host)
		return policy_no_memory(err);
	*host = (struct pol_str){.s = arena_str(request->arena, sv_n(h->text, h->n)), .at = at};
	return !host->s || merge_list(request->arena, &request->net.doors, &one) < 0 ? policy_no_memory(err) : 0;
}

/* But for those that `left` (may be NULL) keeps shut. Private addresses are open by ranges alone, and those that both
 * sides have. */
static int shut_all(struct policy *request, const struct pol_inference *of, const struct pol_inference *left,
		    struct error *err)
{
	struct origin at;
	struct net_host h;
	uint32_t i;

	for (i = 0; i < of->n_providers; i++) {
		net_provider_host(&of->providers[i], &h);
		if (h.class == HOST_BAD || h.class == HOST_PRIVATE || has_door(left, &h))
			continue;
		at = of->providers[i].at;
		if ((has_rule(request, &h) ? leave_to_rules(request, &h, at, err)
					   : ceiling_door_shut(request, &h, at, err)) < 0)
			return -1;
	}
	return 0;
}

int ceiling_doors(struct policy *request, const struct pol_inference *asked, const struct policy *ceiling,
		  struct error *err)
{
	bool below_public = ceiling->net.mode.set && ceiling->net.mode.v == NET_PUBLIC;

	/* whoever is asked may allow any host that no rule denies */
	if (request->net.mode.v == NET_ALLOWLIST && request->net.ask.v && below_public)
		return shut_all(request, &ceiling->inference, NULL, err);
	if (request->net.mode.v != NET_PUBLIC)
		return 0;
	if (below_public && shut_all(request, &ceiling->inference, &request->inference, err) < 0)
		return -1;
	return shut_all(request, asked, &request->inference, err);
}
