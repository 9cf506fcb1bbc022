#include "policy/net_rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "policy/net_index.h"
#include "policy/net_past.h"

/* Where a model provider is. */
struct door {
	struct sv host;
	uint16_t port;
	const char *credential; /* NULL: none */
	bool shut;              /* to whoever is asked; of no provider of this policy */
};

struct ruleset {
	struct arena *arena;
	const struct policy *p;
	struct net_index *allow, *deny;
	struct net_past *past; /* of the policies before; NULL: there was none */
	uint32_t *budget; /* of each rule of network.allow */
	uint32_t n_budgets;
	struct door *providers;
	uint32_t n_providers;
	bool credentials; /* some rule has one */
	bool ranges;      /* some rule of a range minds methods */
};

/* A rule with a rate, and where that is written. */
struct rated {
	struct origin at;
	uint32_t rule;
};

static int by_origin(const void *a, const void *b)
{
	const struct origin *x = &((const struct rated *)a)->at, *y = &((const struct rated *)b)->at;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

/* Rules whose rate is written in one place share a budget. */
static bool share_budgets(struct ruleset *rules)
{
	const struct net_rules *allow = &rules->p->net.allow;
	AUTO_FREE struct rated *v = calloc((size_t)allow->n + 1, sizeof(struct rated));
	uint32_t i, n = 0;

	rules->budget = arena_array(rules->arena, (size_t)allow->n + 1, sizeof(*rules->budget));
	if (!v || !rules->budget)
		return false;
	for (i = 0; i < allow->n; i++)
		if (allow->v[i].rate.set)
			v[n++] = (struct rated){allow->v[i].rate.at, i};
	qsort(v, n, sizeof(*v), by_origin);
	for (i = 0; i < n; i++) {
		if (i == 0 || by_origin(&v[i - 1], &v[i]) != 0)
			rules->n_budgets++;
		rules->budget[v[i].rule] = rules->n_budgets - 1;
	}
	return true;
}

static bool list_providers(struct ruleset *rules)
{
	const struct pol_inference *inf = &rules->p->inference;
	const struct pol_list *doors = &rules->p->net.doors;
	struct net_host h;
	struct door *d;
	uint32_t i;

	rules->providers =
		arena_array(rules->arena, (size_t)inf->n_providers + doors->n + 1, sizeof(*rules->providers));
	if (!rules->providers)
		return false;
	for (i = 0; i < inf->n_providers; i++) {
		net_provider_host(&inf->providers[i], &h);
		if (!h.n)
			continue;
		d = &rules->providers[rules->n_providers++];
		d->host = sv_n(arena_str(rules->arena, sv_n(h.text, h.n)), h.n);
		(void)net_provider_port(&inf->providers[i], &d->port);
		d->credential = inf->providers[i].credential.s;
	}
	for (i = 0; i < doors->n; i++)
		rules->providers[rules->n_providers++] = (struct door){.host = sv_of(doors->v[i].s), .shut = true};
	return !arena_failed(rules->arena);
}

struct ruleset *net_rules_after(const struct ruleset *before, const struct policy *p)
{
	struct arena *a = arena_new();
	struct ruleset *rules = a ? arena_alloc(a, sizeof(*rules)) : NULL;
	uint32_t i;

	if (!rules) {
		arena_free(a);
		return NULL;
	}
	rules->arena = a;
	rules->p = p;
	rules->allow = net_index_new(&p->net.allow);
	rules->deny = net_index_new(&p->net.deny);
	rules->past = before ? net_past_new(before->past, before->p) : NULL;
	for (i = 0; i < p->net.allow.n; i++) {
		rules->credentials = rules->credentials || p->net.allow.v[i].credential.s;
		rules->ranges = rules->ranges || (p->net.allow.v[i].cidr && net_rule_minds_methods(&p->net.allow.v[i]));
	}
	if (!rules->allow || !rules->deny || (before && !rules->past) || !share_budgets(rules) ||
	    !list_providers(rules)) {
		net_rules_free(rules);
		return NULL;
	}
	return rules;
}

struct ruleset *net_rules_new(const struct policy *p)
{
	return net_rules_after(NULL, p);
}

void net_rules_free(struct ruleset *rules)
{
	if (!rules)
		return;
	net_index_free(rules->allow);
	net_index_free(rules->deny);
	net_past_free(rules->past);
	arena_free(rules->arena);
}

uint32_t net_rules_budgets(const struct ruleset *rules)
{
	return rules->n_budgets;
}

uint32_t net_rules_budget(const struct ruleset *rules, uint32_t rule)
{
	return rules->budget[rule];
}

uint32_t net_rules_number(const struct ruleset *rules, const struct net_rule *r)
{
	return (uint32_t)(r - rules->p->net.allow.v);
}

const struct policy *net_rules_policy(const struct ruleset *rules)
{
	return rules->p;
}

typedef bool door_fn(const struct door *d, const void *arg);

/* Is there a provider at the host, or at an address that it carries in itself, for which `is` holds? */
static bool has_provider(const struct ruleset *rules, const struct net_host *h, door_fn *is, const void *arg)
{
	struct net_host carried;
	uint32_t i;

	for (i = 0; rules->n_providers && net_host_carried(h, i, &carried); i++)
		if (has_provider(rules, &carried, is, arg))
			return true;
	for (i = 0; i < rules->n_providers; i++)
		if (sv_eq(rules->providers[i].host, sv_n(h->text, h->n)) && is(&rules->providers[i], arg))
			return true;
	return false;
}

static bool is_any(const struct door *d, const void *arg)
{
	(void)d;
	(void)arg;
	return true;
}

static bool is_keyed(const struct door *d, const void *arg)
{
	(void)arg;
	return d->credential;
}

/* arg: the port */
static bool is_keyed_there(const struct door *d, const void *arg)
{
	return d->credential && d->port == *(const uint16_t *)arg;
}

/* arg: the credential */
static bool is_keyed_with(const struct door *d, const void *arg)
{
	return d->credential && sv_is(*(const struct sv *)arg, d->credential);
}

static bool is_shut(const struct door *d, const void *arg)
{
	(void)arg;
	return d->shut;
}

static bool is_provider(const struct ruleset *rules, const struct net_host *h)
{
	return has_provider(rules, h, is_any, NULL);
}

typedef bool denies_fn(const struct net_rule *r, const struct net_question *q);

/* The first rule of network.deny that is for this host, which is the question's or carried by it, and denies. */
static const struct net_rule *denial_for(const struct ruleset *rules, const struct net_host *host,
					 const struct net_question *q, denies_fn *denies)
{
	const struct net_rule *v = rules->p->net.deny.v, *first = NULL;
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	net_index_find(rules->deny, host, &cursor);
	while (net_index_next(&cursor, &chain))
		for (i = 0; i < chain.n && (!first || v + chain.v[i] < first); i++)
			if (denies(v + chain.v[i], q)) {
				first = v + chain.v[i];
				break;
			}
	return first;
}

static const struct net_rule *find_denial(const struct ruleset *rules, const struct net_question *q, denies_fn *denies)
{
	const struct net_rule *first = denial_for(rules, &q->host, q, denies), *r;
	struct net_host carried;
	unsigned i;

	for (i = 0; rules->p->net.deny.n && net_host_carried(&q->host, i, &carried); i++) {
		r = denial_for(rules, &carried, q, denies);
		if (r && (!first || r < first))
			first = r;
	}
	return first;
}

/* What has been seen on the way through the rules that allow. */
struct search {
	const struct net_rule *fits;
	enum net_fit fit;
	const struct net_rule *keyed; /* the first that fits and has a credential */
	uint32_t from;
	bool every; /* look at all that fit, for their credentials */
};

static void search_chain(const struct net_rule *v, const struct net_chain *chain, const struct net_question *q,
			 struct search *s)
{
	const struct net_rule *r;
	enum net_fit fit;
	uint32_t i;

	for (i = 0; i < chain->n; i++) {
		r = v + chain->v[i];
		if (chain->v[i] < s->from)
			continue;
		/* Behind the one that decides only credentials matter. */
		if (s->fit == FIT_ALL && r > s->fits) {
			if (!s->every || (s->keyed && r > s->keyed))
				return;
			if (!r->credential.s)
				continue;
		}
		fit = net_rule_fits(r, q);
		if (fit == FIT_ALL && r->credential.s && (!s->keyed || r < s->keyed))
			s->keyed = r;
		if (fit > s->fit || (fit == s->fit && fit != FIT_NONE && r < s->fits)) {
			s->fit = fit;
			s->fits = r;
		}
	}
}

static void find_allowed(const struct ruleset *rules, const struct net_question *q, struct search *s)
{
	struct net_cursor cursor;
	struct net_chain chain;

	net_index_find(rules->allow, &q->host, &cursor);
	while (net_index_next(&cursor, &chain))
		search_chain(rules->p->net.allow.v, &chain, q, s);
}

/* Asked for hosts that are nobody's: where a private address or a refused request is near, a person should edit the
 * policy instead. */
static bool may_ask(const struct ruleset *rules, const struct net_question *q, const struct net_verdict *v)
{
	const struct pol_net *net = &rules->p->net;

	if (!net->ask.v || net->mode.v != NET_ALLOWLIST || q->host.class == HOST_PRIVATE)
		return false;
	return (v->why == WHY_UNLISTED || (v->why == WHY_NEARLY && v->found.fit == FIT_HOST)) &&
	       !has_provider(rules, &q->host, is_shut, NULL);
}

static void judge(const struct ruleset *rules, const struct net_question *q, struct search *s, denies_fn *denies,
		  struct net_verdict *ret)
{
	*ret = (struct net_verdict){0};
	if (!net_judge_early(rules->p, q, &ret->why)) {
		ret->found.denies = find_denial(rules, q, denies);
		if (!ret->found.denies)
			find_allowed(rules, q, s);
		ret->found.fits = s->fits;
		ret->found.fit = s->fit;
		ret->found.keyed = s->keyed;
		ret->found.provider = rules->p->net.mode.v == NET_PUBLIC && is_provider(rules, &q->host);
		ret->why = net_judge(rules->p, q, &ret->found);
	}
	ret->allow = net_why_allows(ret->why);
	ret->ask = !ret->allow && may_ask(rules, q, ret);
}

static bool denies_some(const struct net_rule *r, const struct net_question *q)
{
	return net_rule_looks_inside(r) && net_port_denied(r, q->port);
}

/* A rule for the host and port, be it one that denies, that only requests can be held to. */
static bool looks_inside(const struct ruleset *rules, const struct net_question *q)
{
	const struct net_rule *r;
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	net_index_find(rules->allow, &q->host, &cursor);
	while (net_index_next(&cursor, &chain))
		for (i = 0; i < chain.n; i++) {
			r = &rules->p->net.allow.v[chain.v[i]];
			if (net_rule_looks_inside(r) && net_rule_fits(r, q) == FIT_ALL)
				return true;
		}
	return find_denial(rules, q, denies_some) != NULL;
}

/* Does any rule for the host, or the door to a provider there, add a credential, on whatever port? Then its answers are
 * to be looked into. */
static bool is_bound(const struct ruleset *rules, const struct net_host *h)
{
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	if (has_provider(rules, h, is_keyed, NULL))
		return true;
	if (!rules->credentials)
		return false;
	net_index_find(rules->allow, h, &cursor);
	while (net_index_next(&cursor, &chain))
		for (i = 0; i < chain.n; i++)
			if (rules->p->net.allow.v[chain.v[i]].credential.s)
				return true;
	return false;
}

/* Does a rule for the host, or the door to a provider there, add this credential? */
static bool adds(const struct ruleset *rules, const struct net_host *h, struct sv credential)
{
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	net_index_find(rules->allow, h, &cursor);
	while (net_index_next(&cursor, &chain))
		for (i = 0; i < chain.n; i++) {
			const struct net_rule *r = &rules->p->net.allow.v[chain.v[i]];

			if (r->credential.s && sv_is(credential, r->credential.s))
				return true;
		}
	return has_provider(rules, h, is_keyed_with, &credential);
}

static bool still_adds(const void *arg, const struct net_host *h, const char *credential)
{
	return adds(arg, h, sv_of(credential));
}

/*
 * How to carry what is allowed. A host may say on one port what it was sent on another: so one that gets a credential
 * is looked into everywhere, but where a rule opens a port of another protocol in so many words. None opens the port
 * that a provider gets its credential on for that; nor one that a credential went to by an earlier policy, nor any port
 * of a host whose credential was withdrawn, be it for another one (net_past.h).
 */
static enum net_way way_of(const struct ruleset *rules, const struct net_question *q, enum net_why why)
{
	bool web = q->port == 443 || q->port == 80;

	if (looks_inside(rules, q) || ((web || why == WHY_PUBLIC) && is_bound(rules, &q->host)) ||
	    has_provider(rules, &q->host, is_keyed_there, &q->port) ||
	    net_past_knows(rules->past, &q->host, q->port, still_adds, rules))
		return NET_INSPECT;
	return web ? NET_TUNNEL : NET_RAW;
}

bool net_rules_dns(const struct ruleset *rules, struct sv name)
{
	const struct policy *p = rules->p;
	struct net_question q;
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	net_question_host(&q, name, 0);
	if (p->net.mode.v == NET_NONE || p->net.dns.v == DNS_NONE || q.host.class != HOST_NAME)
		return false;
	net_index_find(rules->deny, &q.host, &cursor);
	while (net_index_next(&cursor, &chain))
		for (i = 0; i < chain.n; i++)
			if (p->net.deny.v[chain.v[i]].n_ports == 0 &&
			    !net_rule_looks_inside(&p->net.deny.v[chain.v[i]]))
				return false;
	net_index_find(rules->allow, &q.host, &cursor);
	if (net_index_next(&cursor, &chain))
		return true;
	return p->net.mode.v == NET_PUBLIC && !is_provider(rules, &q.host);
}

void net_rules_name(const struct ruleset *rules, struct sv host, uint16_t port, struct net_verdict *ret)
{
	struct search s = {0};
	struct net_question q;

	net_question_host(&q, host, port);
	judge(rules, &q, &s, net_rule_denies, ret);
	if (ret->allow)
		ret->way = way_of(rules, &q, ret->why);
}

static void set_rate(const struct ruleset *rules, struct net_verdict *io)
{
	const struct net_rule *r = io->found.fits;

	io->rate = r->rate.set ? r->rate.v : 0;
	io->budget = rules->budget[net_rules_number(rules, r)];
}

void net_rules_request(const struct ruleset *rules, const struct net_request *request, struct net_verdict *ret)
{
	struct search s = {.from = request->from, .every = rules->credentials};
	const struct net_rule *r;
	struct net_question q;

	net_question_host(&q, request->host, request->port);
	net_question_request(&q, request->method, request->target, request->asks);
	judge(rules, &q, &s, net_rule_denies, ret);
	r = ret->why == WHY_RULE ? ret->found.fits : NULL;
	if (!r)
		return;
	ret->body = net_rule_has_body(r);
	set_rate(rules, ret);
	ret->next = net_rules_number(rules, r) + 1;
}

const struct net_rule *net_rules_keyed(const struct ruleset *rules, const struct net_request *request,
				       const struct net_rule *after)
{
	struct search s = {.from = net_rules_number(rules, after) + 1, .every = true};
	struct net_question q;

	net_question_host(&q, request->host, request->port);
	net_question_request(&q, request->method, request->target, request->asks);
	find_allowed(rules, &q, &s);
	return s.keyed;
}

bool net_rules_ranges_mind_methods(const struct ruleset *rules)
{
	return rules->ranges;
}

bool net_rules_adds(const struct ruleset *rules, struct sv host, struct sv credential)
{
	struct net_host h;

	net_host_read(host, &h);
	return adds(rules, &h, credential);
}

/* In a tunnel nobody sees whether the methods and paths of a denial are used. */
static bool denies_address(const struct net_rule *r, const struct net_question *q)
{
	return q->method.p ? net_rule_denies(r, q) : net_port_denied(r, q->port);
}

static bool is_led(const struct net_host *asked, const struct address *a)
{
	return !asked->is_address || !address_same(&asked->address, a);
}

void net_rules_address(const struct ruleset *rules, const struct address *a, const struct net_request *request,
		       bool fixed, struct net_verdict *ret)
{
	struct search s = {0};
	struct net_question q;
	struct net_host asked;

	net_host_read(request->host, &asked);
	net_question_address(&q, a, request->port);
	net_question_request(&q, request->method, request->target, request->asks);
	q.led = is_led(&asked, a);
	judge(rules, &q, &s, denies_address, ret);
	/* a name needs the rule of a range only to come through the floor; who asked for the address itself was judged
	 * by all that the rule says */
	if (ret->why == WHY_RULE && q.led && q.host.class == HOST_PRIVATE && !fixed)
		set_rate(rules, ret);
	/* The name has been allowed: what is left to refuse is a denial and the floor. */
	if (ret->why == WHY_UNLISTED || ret->why == WHY_PROVIDER ||
	    (ret->why == WHY_NEARLY && q.host.class != HOST_PRIVATE) ||
	    ((ret->why == WHY_FLOOR || ret->why == WHY_NEARLY) && fixed)) {
		ret->why = WHY_PUBLIC;
		ret->allow = true;
	}
	ret->ask = false;
}

bool net_rules_provider_address(const struct address *a)
{
	enum address_floor floor = address_floor(a);

	return floor == FLOOR_NONE || floor == FLOOR_LOOPBACK || floor == FLOOR_OWN || floor == FLOOR_PRIVATE ||
	       floor == FLOOR_SHARED;
}

void net_rules_reason(const struct ruleset *rules, const struct net_request *request, const struct address *a,
		      const struct net_verdict *v, struct reason *ret)
{
	char address[ADDRESS_TEXT], both[320];
	struct net_question q;
	struct net_host asked;

	if (a)
		net_question_address(&q, a, request->port);
	else
		net_question_host(&q, request->host, request->port);
	net_question_request(&q, request->method, request->target, request->asks);
	if (a) {
		net_host_read(request->host, &asked);
		q.led = is_led(&asked, a);
	}
	if (a && !sv_eq(request->host, q.shown)) {
		(void)snprintf(both, sizeof(both), "%.*s (%s)", (int)(request->host.n < 256 ? request->host.n : 256),
			       request->host.p, address_text(a, address));
		q.shown = sv_of(both);
	}
	net_judge_reason(rules->p, &q, v->why, &v->found, ret);
}

const char *net_rules_where(const struct ruleset *rules, const struct net_verdict *v, struct net_where *out)
{
	const struct policy *p = rules->p;
	const struct net_rule *r = v->found.denies ? v->found.denies : v->found.fits;
	struct origin at = r                                                                       ? r->at
			   : v->why == WHY_FLOOR || v->why == WHY_METHOD || v->why == WHY_BAD_HOST ? (struct origin){0}
												   : p->net.mode.at;
	struct text_shown name;

	(void)text_show(&name, sv_of(at.file < p->n_files && p->files[at.file] ? p->files[at.file] : "built in"));
	if (at.line)
		(void)snprintf(out->s, sizeof(out->s), "%.200s:%u", name.s, at.line);
	else
		(void)snprintf(out->s, sizeof(out->s), "%.200s", name.s);
	return out->s;
}
