#include "base/cleanup.h"
#include "policy/net_cover.h"
#include "policy/net_judge.h"
#include "policy/policy_diff_parts.h"
#include "policy/policy_show.h"

static const char *name_of(const struct net_rule *r)
{
	return r->cidr ? r->cidr : r->host;
}

static bool is_denied(const struct policy *p, const struct net_rule *x)
{
	uint32_t i;

	for (i = 0; i < p->net.deny.n; i++)
		if (net_denial_covers(&p->net.deny.v[i], x))
			return true;
	return false;
}

/* All but the hosts of providers, by the usual methods. */
static bool is_public(const struct policy *p, const struct net_rule *x)
{
	static const struct net_rule any;
	struct net_host h;
	uint32_t i;

	if (p->net.mode.v != NET_PUBLIC || x->cidr)
		return false;
	for (i = 0; i < x->methods.n; i++)
		if (!net_rule_has_method(&any, sv_of(x->methods.v[i].s)))
			return false;
	for (i = 0; i < p->inference.n_providers; i++) {
		net_provider_host(&p->inference.providers[i], &h);
		if (net_rule_is_for(x, &h))
			return false;
	}
	for (i = 0; i < p->net.doors.n; i++) {
		net_host_read(sv_of(p->net.doors.v[i].s), &h);
		if (net_rule_is_for(x, &h))
			return false;
	}
	return true;
}

/* Rates apart. */
static bool is_allowed(const struct policy *p, const struct net_rule *x)
{
	uint32_t i;

	if (p->net.mode.v == NET_NONE || is_denied(p, x))
		return false;
	if (is_public(p, x))
		return true;
	for (i = 0; i < p->net.allow.n; i++)
		if (net_rule_covers(&p->net.allow.v[i], x))
			return true;
	return false;
}

static void add_words(struct buf *out, const char *before, const struct pol_list *l)
{
	uint32_t i;

	(void)buf_str(out, l->n ? before : "");
	for (i = 0; i < l->n; i++)
		(void)buf_printf(out, " %s", l->v[i].s);
}

/* A rule split into what can be compared: x has one port, and one method or none. */
static void compare_atom(struct diff *d, const struct net_rule *x)
{
	AUTO_BUF what = {0};
	struct policy_number n;

	if (is_denied(d->b, x) || is_allowed(d->a, x))
		return;
	/* More than that is cut. */
	buf_init(&what, 512);
	add_words(&what, "", &x->methods);
	add_words(&what, "", &x->paths);
	add_words(&what, ", GraphQL", &x->graphql.types);
	add_words(&what, ", GraphQL fields", &x->graphql.operations);
	add_words(&what, ", MCP tools", &x->mcp.tools);
	add_words(&what, ", JSON-RPC", &x->mcp.methods);
	if (x->rate.set)
		(void)buf_printf(&what, ", %s", policy_show_number(&n, UNIT_RATE, x->rate.v));
	diff_item(d, "network.allow", d->b, x->at, "reaches %s:%u%s", name_of(x), x->ports[0],
		  what.n ? buf_view(&what).p : "");
}

static void compare_rule(struct diff *d, const struct net_rule *r)
{
	static uint16_t usual[] = {443, 80};
	uint32_t n_ports = r->n_ports ? r->n_ports : ARRAY_LEN(usual), i, k;
	struct net_rule x = *r;

	x.n_ports = 1;
	for (i = 0; i < n_ports; i++) {
		x.ports = (r->n_ports ? r->ports : usual) + i;
		x.methods = r->methods;
		if (r->methods.n == 0)
			compare_atom(d, &x);
		for (k = 0; k < r->methods.n; k++) {
			x.methods = (struct pol_list){.v = &r->methods.v[k], .n = 1, .set = true};
			compare_atom(d, &x);
		}
	}
}

static bool held_to(const struct net_rule *outer, const struct net_rule *inner)
{
	return !outer->rate.set || (inner->rate.set && inner->rate.v <= outer->rate.v);
}

static bool has_credential(const struct net_rule *r, const char *name)
{
	return r->credential.s && strcmp(r->credential.s, name) == 0;
}

/* One of the first n rules adds a credential to all that the rule is for. */
static bool is_keyed(const struct net_rules *rules, uint32_t n, const struct net_rule *r)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (rules->v[i].credential.s && net_rule_covers(&rules->v[i], r))
			return true;
	return false;
}

/* Of the rules that fit the first that has a credential decides which it is. So a rule of a that has the same is not
 * all: none before it may have another one, unless that has its turn in b, too, before `rule`. */
static bool is_sent(const struct diff *d, uint32_t rule)
{
	const struct net_rules *a = &d->a->net.allow, *b = &d->b->net.allow;
	const struct net_rule *r = &b->v[rule];
	uint32_t i;

	for (i = 0; i < a->n; i++) {
		if (!a->v[i].credential.s)
			continue;
		if (!has_credential(&a->v[i], r->credential.s)) {
			if (net_rule_meets(&a->v[i], r) && !is_keyed(b, rule, &a->v[i]))
				return false;
		} else if (net_rule_covers(&a->v[i], r) && held_to(&a->v[i], r)) {
			return true;
		}
	}
	return false;
}

static void compare_credential(struct diff *d, uint32_t rule)
{
	const struct net_rule *r = &d->b->net.allow.v[rule];

	if (r->credential.s && !is_sent(d, rule))
		diff_item(d, "network.allow", d->b, r->credential.at, "uses credential %s at %s", r->credential.s,
			  name_of(r));
}

static bool is_same_budget(const struct net_rule *x, const struct net_rule *y)
{
	return x->rate.set && y->rate.set && memcmp(&x->rate.at, &y->rate.at, sizeof(x->rate.at)) == 0;
}

enum { ADDS_UP_MAX = 500 }; /* rules: each is held against all, for each that is rated */

/* All that b lets through of what the rule is for is counted, and its budgets come to no more. False: no, or there are
 * too many to say. */
static bool adds_up(const struct policy *b, const struct net_rule *rated)
{
	const struct net_rules *allow = &b->net.allow;
	uint64_t left = rated->rate.v;
	uint32_t i, k;

	if (b->net.mode.v == NET_PUBLIC || allow->n > ADDS_UP_MAX)
		return false;
	for (i = 0; i < allow->n; i++) {
		if (!net_rule_meets(&allow->v[i], rated))
			continue;
		for (k = 0;
		     k < i && !(is_same_budget(&allow->v[k], &allow->v[i]) && net_rule_meets(&allow->v[k], rated)); k++)
			;
		if (k < i)
			continue;
		if (!allow->v[i].rate.set || allow->v[i].rate.v > left)
			return false;
		left -= allow->v[i].rate.v;
	}
	return true;
}

/* A rule of b counts the same, and those before it decide of nothing that the rated one would. */
static bool is_counted(const struct diff *d, uint32_t rated)
{
	const struct net_rules *a = &d->a->net.allow, *b = &d->b->net.allow;
	uint32_t i, k;

	for (i = 0; i < b->n; i++) {
		if (b->v[i].rate.set && b->v[i].rate.v <= a->v[rated].rate.v && net_rule_covers(&b->v[i], &a->v[rated]))
			return true;
		if (!net_rule_meets(&b->v[i], &a->v[rated]))
			continue;
		for (k = 0; k < rated && !net_rule_covers(&a->v[k], &b->v[i]); k++)
			;
		if (k == rated)
			return false;
	}
	return false;
}

/* The first rule that fits decides, and its rate holds, in mode public too. */
static void compare_rates(struct diff *d)
{
	const struct net_rules *a = &d->a->net.allow;
	struct policy_number n;
	uint32_t i;

	for (i = 0; i < a->n; i++)
		if (a->v[i].rate.set && !adds_up(d->b, &a->v[i]) && !is_counted(d, i))
			diff_item(d, "network.allow", d->a, a->v[i].rate.at, "%s %s to %s",
				  diff_word(d, "no longer holds", "now holds"), name_of(&a->v[i]),
				  policy_show_number(&n, UNIT_RATE, a->v[i].rate.v));
}

/* Every denial counts that is gone: any name that b allows may lead to a denied address, today or later. */
static void compare_denials(struct diff *d)
{
	uint32_t i;

	for (i = 0; i < d->a->net.deny.n; i++)
		if (!is_denied(d->b, &d->a->net.deny.v[i]))
			diff_item(d, "network.deny", d->a, d->a->net.deny.v[i].at, "%s %s",
				  diff_word(d, "no longer denies", "now denies"), name_of(&d->a->net.deny.v[i]));
}

static void compare_door(struct diff *d, const struct net_host *h)
{
	const struct net_rule x = {.host = h->text};

	if (h->class == HOST_BAD || h->class == HOST_PRIVATE || policy_query_serves(d->b, h->text) ||
	    is_denied(d->b, &x))
		return;
	diff_item(d, "network.mode", d->b, d->b->net.mode.at, "reaches %s, %s the host of a provider", h->text,
		  diff_word(d, "which is no longer", "which is now"));
}

/* Mode public keeps the hosts of providers shut, as long as they are named. */
static void compare_doors(struct diff *d)
{
	const struct pol_inference *inf = &d->a->inference;
	const struct pol_list *doors = &d->a->net.doors;
	struct net_host h;
	uint32_t i;

	if (d->a->net.mode.v != NET_PUBLIC || d->b->net.mode.v != NET_PUBLIC)
		return;
	for (i = 0; i < inf->n_providers; i++) {
		net_provider_host(&inf->providers[i], &h);
		compare_door(d, &h);
	}
	for (i = 0; i < doors->n; i++) {
		net_host_read(sv_of(doors->v[i].s), &h);
		compare_door(d, &h);
	}
}

/* Where none is let through nobody is asked, either. */
static bool asks(const struct pol_net *net)
{
	return net->ask.v && net->mode.v == NET_ALLOWLIST;
}

static bool has_rule_over(const struct policy *p, const struct net_rule *r)
{
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++)
		if (net_rule_covers(&p->net.allow.v[i], r))
			return true;
	return false;
}

/* Nobody is asked for it. */
static bool is_shut(const struct policy *p, const char *host)
{
	const struct net_rule x = {.host = host};
	uint32_t i;

	for (i = 0; i < p->net.doors.n; i++)
		if (strcmp(p->net.doors.v[i].s, host) == 0)
			return true;
	return is_denied(p, &x);
}

/* Of a host that some rule is for nobody is asked for what the rule does not allow. */
static void compare_asking(struct diff *d)
{
	const struct net_rules *a = &d->a->net.allow;
	const struct pol_list *doors = &d->a->net.doors;
	uint32_t i;

	if (asks(&d->b->net) && !asks(&d->a->net))
		diff_item(d, "network.ask", d->b, d->b->net.ask.at, "asks you for other hosts");
	for (i = 0; i < doors->n && asks(&d->a->net) && asks(&d->b->net); i++)
		if (!is_shut(d->b, doors->v[i].s))
			diff_item(d, "network.ask", d->b, d->b->net.ask.at, "asks you for %s", doors->v[i].s);
	for (i = 0; i < a->n && asks(&d->a->net) && asks(&d->b->net); i++)
		if (net_rule_looks_inside(&a->v[i]) && !has_rule_over(d->b, &a->v[i]))
			diff_item(d, "network.ask", d->b, d->b->net.ask.at, "asks you for more of %s",
				  name_of(&a->v[i]));
}

/* What only counts where both have a network. */
static void compare_bounds(struct diff *d)
{
	const struct pol_net *a = &d->a->net, *b = &d->b->net;

	compare_rates(d);
	compare_denials(d);
	compare_doors(d);
	if (b->dns.v > a->dns.v)
		diff_item(d, "network.dns", d->b, b->dns.at, "looks up names");
	diff_limit(d, "network.max_bytes_out", UNIT_SIZE, &a->max_bytes_out, &b->max_bytes_out);
}

void diff_network(struct diff *d)
{
	const struct pol_net *a = &d->a->net, *b = &d->b->net;
	uint32_t i;

	if (b->mode.v == NET_PUBLIC && a->mode.v != NET_PUBLIC)
		diff_item(d, "network.mode", d->b, b->mode.at, "reaches every public host");
	for (i = 0; i < b->allow.n && b->mode.v != NET_NONE; i++) {
		compare_rule(d, &b->allow.v[i]);
		compare_credential(d, i);
	}
	if (b->mode.v != NET_NONE && a->mode.v != NET_NONE)
		compare_bounds(d);
	compare_asking(d);
	if (b->loopback.v > a->loopback.v)
		diff_item(d, "network.loopback", d->b, b->loopback.at, "talks over its own loopback");
}
