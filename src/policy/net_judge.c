#include "policy/net_judge.h"

#include <stdlib.h>

#include "base/method.h"

static void ask(struct net_question *q, struct sv shown, uint16_t port)
{
	q->shown = shown;
	q->port = port;
	q->method = q->path = sv_n(NULL, 0);
	q->overrides = q->odd_path = q->rewrites = q->rehosts = q->led = false;
}

void net_question_host(struct net_question *q, struct sv host, uint16_t port)
{
	net_host_read(host, &q->host);
	ask(q, host, port);
}

void net_question_address(struct net_question *q, const struct address *a, uint16_t port)
{
	net_host_of_address(a, &q->host);
	ask(q, sv_n(q->host.text, q->host.n), port);
}

void net_question_request(struct net_question *q, struct sv method, struct sv target, struct net_asks asks)
{
	const char *query = target.p ? memchr(target.p, '?', target.n) : NULL;

	q->method = method;
	q->path = query ? sv_n(target.p, (size_t)(query - target.p)) : target;
	q->overrides = asks.override || (target.p && net_query_overrides(target));
	/* "*" is the target of OPTIONS about a whole server: no path, so none of a list. */
	q->rewrites = asks.rewrite;
	q->rehosts = asks.rehost;
	q->odd_path = target.p && (asks.rewrite || net_path_is_odd(q->path));
}

bool net_rule_is_for(const struct net_rule *r, const struct net_host *h)
{
	struct cidr c;

	if (h->class == HOST_BAD)
		return false;
	if (!r->cidr)
		return net_host_matches(r->host, sv_n(h->text, h->n));
	return h->is_address && cidr_parse(sv_of(r->cidr), &c) && cidr_has(&c, &h->address);
}

static bool path_in(const struct pol_list *paths, struct sv path, bool matches(const char *pattern, struct sv path))
{
	uint32_t i;

	for (i = 0; i < paths->n; i++)
		if (matches(paths->v[i].s, path))
			return true;
	return false;
}

static bool restricts(const struct pol_list *l)
{
	return l->set || l->n;
}

bool net_rule_has_body(const struct net_rule *r)
{
	return restricts(&r->graphql.types) || restricts(&r->graphql.operations) || restricts(&r->mcp.tools) ||
	       restricts(&r->mcp.methods);
}

bool net_rule_minds_methods(const struct net_rule *r)
{
	return restricts(&r->methods) || net_rule_has_body(r);
}

bool net_rule_is_blind(const struct net_rule *r, const struct net_question *q)
{
	return q->led && (q->method.p ? net_rule_has_body(r) : net_rule_looks_inside(r));
}

/* Servers have methods of their own, which no list of this program's can know: those pass only where somebody has
 * written them down. */
static bool method_fits(const struct net_rule *r, struct sv method)
{
	return restricts(&r->methods) ? net_method_in(&r->methods, method) : method_is_known(method);
}

bool net_rule_minds_host(const struct net_rule *r)
{
	return net_rule_minds_methods(r) || restricts(&r->paths) || r->credential.s;
}

enum net_fit net_rule_fits(const struct net_rule *r, const struct net_question *q)
{
	if (q->host.class == HOST_PRIVATE && !r->cidr)
		return FIT_NONE;
	if (!net_port_allowed(r, q->port))
		return FIT_HOST;
	if (net_rule_is_blind(r, q) || (net_rule_minds_methods(r) && q->overrides) ||
	    (q->method.p && !method_fits(r, q->method)))
		return FIT_PORT;
	if (q->rehosts && net_rule_minds_host(r))
		return FIT_METHOD;
	if (restricts(&r->paths) && q->path.p && (q->odd_path || !path_in(&r->paths, q->path, net_path_allowed)))
		return FIT_METHOD;
	return FIT_ALL;
}

/* With method or path left open, a rule that refuses only some of them does not refuse all. */
bool net_rule_denies(const struct net_rule *r, const struct net_question *q)
{
	if (!net_port_denied(r, q->port))
		return false;
	if (r->methods.n && (!q->method.p || (!q->overrides && !net_method_denied(&r->methods, q->method))))
		return false;
	return r->paths.n == 0 || (q->path.p && (q->odd_path || net_path_is_folded(q->path) ||
						 path_in(&r->paths, q->path, net_path_denied)));
}

bool net_rule_looks_inside(const struct net_rule *r)
{
	return restricts(&r->methods) || restricts(&r->paths) || r->credential.s || r->rate.set || net_rule_has_body(r);
}

void net_provider_host(const struct provider *p, struct net_host *ret)
{
	const char *s = p->url.s ? strstr(p->url.s, "://") : NULL;
	size_t n;

	s = s ? s + 3 : "";
	n = s[0] == '[' ? strcspn(s, "]") + 1 : strcspn(s, ":/");
	net_host_read(sv_n(s, n > strlen(s) ? strlen(s) : n), ret);
}

const char *net_provider_port(const struct provider *p, uint16_t *port)
{
	const char *url = p->url.s ? p->url.s : "", *at = strstr(url, "://");

	at = at ? at + 3 : url;
	at += *at == '[' ? strcspn(at, "]") : strcspn(at, ":/");
	at += *at == ']';
	*port = strncmp(url, "https://", 8) == 0 ? 443 : 80;
	if (*at == ':')
		*port = (uint16_t)strtoul(at + 1, NULL, 10);
	return at + strcspn(at, "/");
}

bool net_judge_early(const struct policy *p, const struct net_question *q, enum net_why *ret)
{
	if (p->net.mode.v == NET_NONE)
		*ret = WHY_NO_NET;
	else if (q->host.class == HOST_BAD)
		*ret = WHY_BAD_HOST;
	else if (q->method.p && (sv_is(q->method, "TRACE") || sv_is(q->method, "CONNECT")))
		*ret = WHY_METHOD;
	else
		return false;
	return true;
}

enum net_why net_judge(const struct policy *p, const struct net_question *q, const struct net_found *found)
{
	if (found->denies)
		return WHY_DENIED;
	if (found->fit == FIT_ALL)
		return WHY_RULE;
	if (q->host.class == HOST_PRIVATE && !found->fits)
		return WHY_FLOOR;
	if (p->net.mode.v == NET_PUBLIC && q->host.class != HOST_PRIVATE && q->method.p && !method_is_known(q->method))
		return WHY_METHOD;
	if (p->net.mode.v == NET_PUBLIC && q->host.class != HOST_PRIVATE)
		return found->provider ? WHY_PROVIDER : WHY_PUBLIC;
	return found->fits ? WHY_NEARLY : WHY_UNLISTED;
}
