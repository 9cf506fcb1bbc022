#include "policy/ceiling_provider.h"

#include "base/arena.h"
#include "policy/net_judge.h"
#include "policy/net_provider.h"
#include "policy/policy_provider.h"
#include "policy/policy_where.h"

/* All that the door sends to a provider. */
struct errand {
	struct net_host host;
	uint16_t port;
	const char *paths; /* a pattern over all of them */
	bool odd;          /* a server may read another path */
};

static int read_errand(const struct policy *request, const struct provider *p, struct errand *ret, struct error *err)
{
	const char *path = net_provider_port(p, &ret->port);
	/* which version a client of Gemini asks for is its own choice */
	const char *version = p->kind.v == PROVIDER_GEMINI || sv_ends(sv_of(path), "/v1") ? "" : "/v1";

	net_provider_host(p, &ret->host);
	ret->odd = path[0] && net_path_is_odd(sv_of(path));
	/* a version at the url's end is that of the endpoints: other versions come beside it */
	if (p->kind.v == PROVIDER_GEMINI && strrchr(path, '/') && strncmp(strrchr(path, '/'), "/v1", 3) == 0)
		ret->paths = arena_printf(request->arena, "%.*s/**", (int)(strrchr(path, '/') - path), path);
	else
		ret->paths = arena_printf(request->arena, "%s%s/**", path, version);
	return ret->paths ? 0 : policy_no_memory(err);
}

static bool opens_paths(const struct net_rule *r, const struct errand *e)
{
	uint32_t i;

	if (!r->paths.set)
		return true;
	for (i = 0; i < r->paths.n && !e->odd; i++)
		if (net_path_covers(r->paths.v[i].s, e->paths))
			return true;
	return false;
}

/* The rule opens all of it, and says nothing that the door would have to keep. */
static bool opens(const struct net_rule *r, const struct errand *e)
{
	if ((e->host.class == HOST_PRIVATE && !r->cidr) || r->rate.set || net_rule_has_body(r))
		return false;
	return net_rule_is_for(r, &e->host) && net_port_allowed(r, e->port) &&
	       net_method_in(&r->methods, sv_of("POST")) && net_method_in(&r->methods, sv_of("GET")) &&
	       opens_paths(r, e);
}

/* Whatever paths it names: which of them a server takes for which is not for us to guess. */
static bool denies(const struct net_rule *r, const struct errand *e)
{
	if (!net_provider_rule_is_for(r, &e->host) || !net_port_denied(r, e->port))
		return false;
	return r->methods.n == 0 || net_method_denied(&r->methods, sv_of("POST")) ||
	       net_method_denied(&r->methods, sv_of("GET"));
}

/* Where all of the internet is open: a rate would not be counted at the door. */
static bool is_rated(const struct net_rules *allow, const struct errand *e)
{
	uint32_t i;

	for (i = 0; i < allow->n; i++)
		if (allow->v[i].rate.set && net_rule_is_for(&allow->v[i], &e->host) &&
		    net_port_allowed(&allow->v[i], e->port))
			return true;
	return false;
}

/* Only a range opens addresses that are not public, and this machine's own are not, whatever they look like. */
static bool is_open(const struct pol_net *net, const struct errand *e, enum provider_reach *reach)
{
	bool found = false;
	uint32_t i;

	*reach = REACH_PUBLIC;
	if (net->mode.v == NET_NONE || e->host.class == HOST_BAD)
		return false;
	for (i = 0; i < net->allow.n && *reach == REACH_PUBLIC; i++) {
		if (!opens(&net->allow.v[i], e))
			continue;
		found = true;
		if (net->allow.v[i].cidr)
			*reach = REACH_UNDENIED;
	}
	if (found)
		return true;
	return net->mode.v == NET_PUBLIC && e->host.class != HOST_PRIVATE && !is_rated(&net->allow, e);
}

int ceiling_provider(const struct policy *request, const struct policy *ceiling, struct provider *p, struct error *err)
{
	const struct pol_net *net = &ceiling->net;
	enum provider_reach reach = REACH_UNDENIED;
	struct errand e;
	uint32_t i;

	if (!net->mode.set && net->deny.n == 0)
		return 0;
	if (read_errand(request, p, &e, err) < 0)
		return -1;
	for (i = 0; i < net->deny.n; i++)
		if (denies(&net->deny.v[i], &e))
			return policy_fail(
				request, p->at, "inference.providers", err,
				"the ceiling denies the url of %.64s (%.200s); name the provider in the ceiling",
				p->name, policy_where(ceiling, net->deny.v[i].at));
	if (net->mode.set && !policy_provider_is_known(p) && !is_open(net, &e, &reach))
		return policy_fail(request, p->at, "inference.providers", err,
				   "the url of %.64s is not the provider's own, and the ceiling (%.200s) does not open "
				   "it for GET and POST to %.80s; name the provider in the ceiling",
				   p->name, policy_where(ceiling, net->mode.at), e.paths);
	p->reach = reach;
	return 0;
}
