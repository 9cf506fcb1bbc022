#include "base/cleanup.h"
#include "policy/net_match.h"
#include "policy/policy_cover.h"
#include "policy/policy_diff_parts.h"
#include "policy/policy_show.h"

static const char *name_of(const struct net_rule *r)
{
	return r->cidr ? r->cidr : r->host;
}

static bool host_covers(const struct net_rule *outer, const struct net_rule *inner)
{
	if (outer->cidr)
		return inner->cidr ? net_cidr_covers(outer->cidr, inner->cidr)
				   : net_cidr_has(outer->cidr, sv_of(inner->host));
	return !inner->cidr && net_host_covers(outer->host, inner->host);
}

static bool paths_cover(const struct pol_list *outer, const struct pol_list *inner)
{
	uint32_t i;

	if (outer->n == 0)
		return true;
	for (i = 0; i < inner->n; i++)
		if (!cover_by_list(&cover_url, outer, inner->v[i].s))
			return false;
	return inner->n > 0;
}

static bool methods_cover(const struct net_rule *outer, const struct net_rule *inner)
{
	uint32_t i;

	if (outer->methods.n == 0)
		return true;
	for (i = 0; i < inner->methods.n; i++)
		if (!net_method_in(&outer->methods, sv_of(inner->methods.v[i].s)))
			return false;
	return inner->methods.n > 0;
}

/* Where outer restricts, inner must be within it. */
static bool calls_cover(const struct pol_list *outer, const struct pol_list *inner)
{
	uint32_t i;

	if (!outer->set)
		return true;
	for (i = 0; i < inner->n; i++)
		if (!cover_by_list(&cover_model, outer, inner->v[i].s))
			return false;
	return inner->set;
}

static bool inside_covers(const struct net_rule *outer, const struct net_rule *inner)
{
	return calls_cover(&outer->graphql.types, &inner->graphql.types) &&
	       calls_cover(&outer->graphql.operations, &inner->graphql.operations) &&
	       calls_cover(&outer->mcp.tools, &inner->mcp.tools) && calls_cover(&outer->mcp.methods, &inner->mcp.methods) &&
	       (!outer->rate.set || (inner->rate.set && inner->rate.v <= outer->rate.v));
}

/* One rule split into what can be compared: a host, one port, one method (NULL: any). */
struct atom {
	const struct net_rule *rule;
	uint16_t port;
	const char *method;
};

static bool atom_denied(const struct policy *p, const struct atom *x)
{
	const struct net_rule *r;
	uint32_t i;

	for (i = 0; i < p->net.deny.n; i++) {
		r = &p->net.deny.v[i];
		if (host_covers(r, x->rule) && net_port_denied(r, x->port) && paths_cover(&r->paths, &x->rule->paths) &&
		    (r->methods.n == 0 || (x->method && net_method_in(&r->methods, sv_of(x->method)))))
			return true;
	}
	return false;
}

static bool atom_allowed(const struct policy *p, const struct atom *x)
{
	const struct net_rule *r;
	uint32_t i;

	if (p->net.mode.v == NET_NONE || atom_denied(p, x))
		return false;
	if (p->net.mode.v == NET_PUBLIC && !x->rule->cidr)
		return true;
	for (i = 0; i < p->net.allow.n; i++) {
		r = &p->net.allow.v[i];
		if (host_covers(r, x->rule) && net_port_allowed(r, x->port) && inside_covers(r, x->rule) &&
		    paths_cover(&r->paths, &x->rule->paths) &&
		    (r->methods.n == 0 || (x->method && net_method_in(&r->methods, sv_of(x->method)))))
			return true;
	}
	return false;
}

static void add_words(struct buf *out, const char *before, const struct pol_list *l)
{
	uint32_t i;

	(void)buf_str(out, l->n ? before : "");
	for (i = 0; i < l->n; i++)
		(void)buf_printf(out, " %s", l->v[i].s);
}

static void compare_atom(struct diff *d, struct atom x)
{
	AUTO_BUF what = {0};
	struct policy_number n;

	if (!atom_allowed(d->b, &x) || atom_allowed(d->a, &x))
		return;
	/* More than that is cut. */
	buf_init(&what, 512);
	(void)buf_printf(&what, "%s%s", x.method ? " " : "", x.method ? x.method : "");
	add_words(&what, "", &x.rule->paths);
	add_words(&what, ", GraphQL", &x.rule->graphql.types);
	add_words(&what, ", GraphQL fields", &x.rule->graphql.operations);
	add_words(&what, ", MCP tools", &x.rule->mcp.tools);
	add_words(&what, ", JSON-RPC", &x.rule->mcp.methods);
	if (x.rule->rate.set)
		(void)buf_printf(&what, ", %s", policy_show_number(&n, UNIT_RATE, x.rule->rate.v));
	diff_item(d, "network.allow", d->b, x.rule->at, "reaches %s:%u%s", name_of(x.rule), x.port, buf_view(&what).p);
}

static const uint16_t default_ports[] = {443, 80};

static void compare_rule(struct diff *d, const struct net_rule *r)
{
	const uint16_t *ports = r->n_ports ? r->ports : default_ports;
	uint32_t n_ports = r->n_ports ? r->n_ports : ARRAY_LEN(default_ports), i, k;

	for (i = 0; i < n_ports; i++) {
		if (r->methods.n == 0)
			compare_atom(d, (struct atom){r, ports[i], NULL});
		for (k = 0; k < r->methods.n; k++)
			compare_atom(d, (struct atom){r, ports[i], r->methods.v[k].s});
	}
}

/* Outer is for all that inner is for. */
static bool rule_covers(const struct net_rule *outer, const struct net_rule *inner)
{
	uint32_t n = inner->n_ports ? inner->n_ports : ARRAY_LEN(default_ports), i;

	for (i = 0; i < n; i++)
		if (!net_port_allowed(outer, inner->n_ports ? inner->ports[i] : default_ports[i]))
			return false;
	return host_covers(outer, inner) && methods_cover(outer, inner) && paths_cover(&outer->paths, &inner->paths) && inside_covers(outer, inner);
}

static void compare_credential(struct diff *d, const struct net_rule *r)
{
	const struct net_rule *other;
	uint32_t i;

	if (!r->credential.s)
		return;
	for (i = 0; i < d->a->net.allow.n; i++) {
		other = &d->a->net.allow.v[i];
		if (other->credential.s && strcmp(other->credential.s, r->credential.s) == 0 && rule_covers(other, r))
			return;
	}
	diff_item(d, "network.allow", d->b, r->credential.at, "uses credential %s at %s", r->credential.s, name_of(r));
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

/* Every denial counts that is gone: any name that b allows may lead to a denied address, today or later. */
static void compare_denials(struct diff *d)
{
	const struct net_rule *r, *other;
	uint32_t i, k;

	if (d->a->net.mode.v == NET_NONE || d->b->net.mode.v == NET_NONE)
		return;
	for (i = 0; i < d->a->net.deny.n; i++) {
		r = &d->a->net.deny.v[i];
		for (k = 0; k < d->b->net.deny.n; k++) {
			other = &d->b->net.deny.v[k];
			if (host_covers(other, r) && ports_denied(other, r) && methods_cover(other, r) &&
			    paths_cover(&other->paths, &r->paths))
				break;
		}
		if (k == d->b->net.deny.n)
			diff_item(d, "network.deny", d->a, r->at, "no longer denies %s", name_of(r));
	}
}

void diff_network(struct diff *d)
{
	const struct pol_net *a = &d->a->net, *b = &d->b->net;
	uint32_t i;

	if (b->mode.v == NET_PUBLIC && a->mode.v != NET_PUBLIC)
		diff_item(d, "network.mode", d->b, b->mode.at, "reaches every public host");
	for (i = 0; i < b->allow.n && b->mode.v != NET_NONE; i++) {
		compare_rule(d, &b->allow.v[i]);
		compare_credential(d, &b->allow.v[i]);
	}
	compare_denials(d);
	if (b->mode.v != NET_NONE && b->dns.v > a->dns.v && a->mode.v != NET_NONE)
		diff_item(d, "network.dns", d->b, b->dns.at, "looks up names");
	if (b->mode.v != NET_NONE && b->ask.v > a->ask.v)
		diff_item(d, "network.ask", d->b, b->ask.at, "asks you for other hosts");
	if (b->loopback.v > a->loopback.v)
		diff_item(d, "network.loopback", d->b, b->loopback.at, "talks over its own loopback");
	if (b->mode.v != NET_NONE && a->mode.v != NET_NONE)
		diff_limit(d, "network.max_bytes_out", UNIT_SIZE, &a->max_bytes_out, &b->max_bytes_out);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void models(struct diff *d, const struct provider *a, const struct provider *b)
{
	uint32_t i;

	if (!a->models.set && a->models.n == 0)
		return;
	if (!b->models.set && b->models.n == 0)
		diff_item(d, "inference.providers", d->b, b->at, "uses any model of %s", b->name);
	for (i = 0; i < b->models.n; i++)
		if (!cover_by_list(&cover_model, &a->models, b->models.v[i].s))
			diff_item(d, "inference.providers", d->b, b->models.v[i].at, "uses model %s of %s",
				  b->models.v[i].s, b->name);
}

static void provider(struct diff *d, const struct provider *a, const struct provider *b)
{
	if (a->kind.v != b->kind.v || !same_text(a->url.s, b->url.s))
		diff_item(d, "inference.providers", d->b, b->url.s ? b->url.at : b->at, "%s is another server: %s",
			  b->name, b->url.s ? b->url.s : provider_kind_names[b->kind.v]);
	if (b->credential.s && !same_text(a->credential.s, b->credential.s))
		diff_item(d, "inference.providers", d->b, b->credential.at, "uses credential %s at %s", b->credential.s,
			  b->name);
	models(d, a, b);
	diff_limit(d, "inference.max_requests", UNIT_COUNT, &a->max_requests, &b->max_requests);
	diff_limit(d, "inference.max_output_tokens", UNIT_COUNT, &a->max_output_tokens, &b->max_output_tokens);
	if (b->server_tools.v > a->server_tools.v)
		diff_item(d, "inference.server_tools", d->b, b->server_tools.at, "%s may run tools for it", b->name);
}

static const struct provider *provider_get(const struct policy *p, const char *name)
{
	uint32_t i;

	for (i = 0; i < p->inference.n_providers; i++)
		if (strcmp(p->inference.providers[i].name, name) == 0)
			return &p->inference.providers[i];
	return NULL;
}

void diff_inference(struct diff *d)
{
	const struct pol_inference *a = &d->a->inference, *b = &d->b->inference;
	const struct provider *other;
	uint32_t i, k, from = 0;

	for (i = 0; i < b->n_providers; i++) {
		other = provider_get(d->a, b->providers[i].name);
		if (other)
			provider(d, other, &b->providers[i]);
		else
			diff_item(d, "inference.providers", d->b, b->providers[i].at, "uses models of %s",
				  b->providers[i].name);
	}
	/* in order: the first that fits counts */
	for (i = 0; i < b->n_routes; i++) {
		for (k = from; k < a->n_routes; k++)
			if (same_text(a->routes[k].model, b->routes[i].model) &&
			    same_text(a->routes[k].provider, b->routes[i].provider))
				break;
		from = k < a->n_routes ? k + 1 : from;
		if (k == a->n_routes)
			diff_item(d, "inference.routes", d->b, b->routes[i].at, "sends %s to %s", b->routes[i].model,
				  b->routes[i].provider);
	}
}
