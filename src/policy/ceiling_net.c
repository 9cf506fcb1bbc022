#include "policy/ceiling_net.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/address.h"
#include "policy/ceiling_door.h"
#include "policy/net_cover.h"
#include "policy/net_judge.h"
#include "policy/policy_ceiling.h"
#include "policy/policy_cover.h"
#include "policy/policy_merge.h"
#include "policy/policy_where.h"

enum { RANGE_BITS = 10 /* of a range that is written out address by address */ };

struct meet {
	struct policy *request;
	const struct policy *ceiling;
	struct error *err;
	bool allowlists; /* both modes are */
	bool allowlist;  /* one is */
	bool strict;     /* refuse paths whose intersection cannot be written; else such a pair has none */
	struct net_rule *out;
	uint32_t n, cap;
	uint32_t n_met; /* the first of them: what rules of both sides allow */
	/* The ceiling's rules: exact hosts, sorted, and then the others; within a host and among the others in their
	 * order, because the first that fits decides. */
	const struct net_rule **index;
	uint32_t n_exact;
};

static bool is_exact(const struct net_rule *r)
{
	return r->host && r->host[0] != '*';
}

static int by_host(const void *a, const void *b)
{
	const struct net_rule *x = *(const struct net_rule *const *)a, *y = *(const struct net_rule *const *)b;
	int r = strcmp(x->host, y->host);

	return r ? r : (x > y) - (x < y);
}

static int build_index(struct meet *m)
{
	const struct net_rules *rules = &m->ceiling->net.allow;
	uint32_t i, n = 0;

	m->index = arena_array(m->request->arena, rules->n, sizeof(*m->index));
	if (!m->index)
		return policy_no_memory(m->err);
	for (i = 0; i < rules->n; i++)
		if (is_exact(&rules->v[i]))
			m->index[m->n_exact++] = &rules->v[i];
	for (i = 0; i < rules->n; i++)
		if (!is_exact(&rules->v[i]))
			m->index[m->n_exact + n++] = &rules->v[i];
	qsort(m->index, m->n_exact, sizeof(*m->index), by_host);
	return 0;
}

static int add(struct meet *m, const struct net_rule *rule)
{
	struct net_rule *v;

	if (m->n == CEILING_MAX_RULES)
		return policy_fail(m->request, rule->at, "network.allow", m->err,
				   "with the ceiling this becomes more than %d rules; use fewer and wider ones",
				   CEILING_MAX_RULES);
	if (m->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 64;
		v = arena_array(m->request->arena, m->cap, sizeof(*v));
		if (!v)
			return policy_no_memory(m->err);
		if (m->n)
			memcpy(v, m->out, m->n * sizeof(*v));
		m->out = v;
	}
	m->out[m->n++] = *rule;
	return 0;
}

/* Who both rules are for, in *out. An address of a range stays a host rule: those never open a private address. */
static bool meet_subject(const struct net_rule *a, const struct net_rule *b, struct net_rule *out)
{
	const struct net_rule *inner = net_rule_reaches(b, a) ? a : net_rule_reaches(a, b) ? b : NULL;

	if (!inner)
		return false;
	out->host = inner->host;
	out->cidr = inner->cidr;
	return true;
}

static bool has_port(const uint16_t *v, uint32_t n, uint16_t port)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (v[i] == port)
			return true;
	return false;
}

/* 1: some are left; 0: none; -1: no memory. */
static int meet_ports(struct meet *m, const struct net_rule *a, const struct net_rule *b, struct net_rule *out)
{
	static const uint16_t usual[] = {443, 80};
	const uint16_t *x = a->n_ports ? a->ports : usual, *y = b->n_ports ? b->ports : usual;
	uint32_t nx = a->n_ports ? a->n_ports : 2, ny = b->n_ports ? b->n_ports : 2, i;

	if (!a->n_ports && !b->n_ports)
		return 1;
	out->ports = arena_array(m->request->arena, nx, sizeof(*out->ports));
	if (!out->ports)
		return policy_no_memory(m->err);
	for (i = 0; i < nx; i++)
		if (has_port(y, ny, x[i]) && !has_port(out->ports, out->n_ports, x[i]))
			out->ports[out->n_ports++] = x[i];
	return out->n_ports > 0;
}

/* Those of the list that the rule lets through; in *out, which may be the list. 1: some are left; 0: none; -1: no
 * memory. */
static int keep_methods(struct meet *m, const struct pol_list *list, const struct net_rule *of, struct pol_list *out)
{
	struct pol_list kept = {.set = true, .v = arena_array(m->request->arena, list->n, sizeof(*kept.v))};
	uint32_t i;

	if (!kept.v)
		return policy_no_memory(m->err);
	for (i = 0; i < list->n; i++)
		if (net_rule_has_method(of, sv_of(list->v[i].s)))
			kept.v[kept.n++] = list->v[i];
	*out = kept;
	return kept.n > 0;
}

static int meet_methods(struct meet *m, const struct net_rule *a, const struct net_rule *b, struct net_rule *out)
{
	if (a->methods.set)
		return keep_methods(m, &a->methods, b, &out->methods);
	return b->methods.set ? keep_methods(m, &b->methods, a, &out->methods) : 1;
}

/* What mode public lets through of a rule's methods. */
static int keep_usual(struct meet *m, struct net_rule *rule)
{
	static const struct net_rule any;

	return rule->methods.set ? keep_methods(m, &rule->methods, &any, &rule->methods) : 1;
}

/* The patterns that both lists allow. `key` is where a request is refused whose patterns only overlap the ceiling's. */
static int meet_patterns(struct meet *m, const struct cover_kind *kind, const char *key, const struct pol_list *a,
			 const struct pol_list *b, struct pol_list *out)
{
	const struct pol_str *x = NULL, *y = NULL;
	struct text_shown sx, sy;
	int r;

	if (!a->set || !b->set) {
		*out = a->set ? *a : *b;
		return 1;
	}
	r = cover_intersect(kind, m->request->arena, a, b, out, &x, &y);
	if (r < 0)
		return policy_no_memory(m->err);
	if (r == 0)
		return out->n > 0;
	if (!m->strict)
		return 0;
	return policy_fail(
		m->request, x->at, key, m->err,
		"\"%.80s\" and the ceiling's \"%.80s\" (%.120s) overlap, but no one pattern says where; narrow it",
		text_show(&sx, sv_of(x->s)), text_show(&sy, sv_of(y->s)), policy_where(m->ceiling, y->at));
}

static bool has_graphql(const struct net_rule *r)
{
	return r->graphql.types.set || r->graphql.operations.set;
}

static bool has_mcp(const struct net_rule *r)
{
	return r->mcp.tools.set || r->mcp.methods.set;
}

static int meet_calls(struct meet *m, const struct net_rule *a, const struct net_rule *b, struct net_rule *out)
{
	const struct {
		const char *key;
		const struct pol_list *a, *b;
		struct pol_list *out;
	} lists[] = {
		{"network.allow.graphql.types", &a->graphql.types, &b->graphql.types, &out->graphql.types},
		{"network.allow.graphql.operations", &a->graphql.operations, &b->graphql.operations,
		 &out->graphql.operations},
		{"network.allow.mcp.tools", &a->mcp.tools, &b->mcp.tools, &out->mcp.tools},
		{"network.allow.mcp.methods", &a->mcp.methods, &b->mcp.methods, &out->mcp.methods},
	};
	size_t i;
	int r = 1;

	/* No request is both. */
	if ((has_graphql(a) && has_mcp(b)) || (has_mcp(a) && has_graphql(b)))
		return 0;
	for (i = 0; i < ARRAY_LEN(lists) && r > 0; i++)
		r = meet_patterns(m, &cover_model, lists[i].key, lists[i].a, lists[i].b, lists[i].out);
	return r;
}

/* One side's mcp has no paths, so that nothing but POST goes through; the other side's paths must not change that. */
static int hold_to_posts(struct meet *m, struct net_rule *rule)
{
	static const struct pol_str post = {.s = "POST"};
	struct pol_list posts = {.set = true, .v = arena_array(m->request->arena, 1, sizeof(*posts.v)), .n = 1};

	if (!posts.v)
		return policy_no_memory(m->err);
	posts.v[0] = post;
	posts.v[0].at = rule->at;
	return keep_methods(m, &posts, rule, &rule->methods);
}

/*
 * The smaller rate, but with the ceiling's origin: rules that share an origin share one budget, so a request does not
 * get more by cutting one of the ceiling's rules into many.
 */
static struct pol_num meet_rate(const struct pol_num *mine, const struct pol_num *theirs)
{
	struct pol_num rate = theirs->set ? *theirs : *mine;

	if (mine->set && mine->v < rate.v)
		rate.v = mine->v;
	return rate;
}

/* What the request's rule a and the ceiling's rule b both allow, if anything. */
static int meet_pair(struct meet *m, const struct net_rule *a, const struct net_rule *b)
{
	struct net_rule rule = {.at = a->at, .rate = meet_rate(&a->rate, &b->rate)};
	int r;

	if (!meet_subject(a, b, &rule))
		return 0;
	/* Without the pair its rate would not hold where another rule, or the mode, lets the request pass. */
	m->strict = m->allowlists || a->rate.set || b->rate.set;
	r = meet_ports(m, a, b, &rule);
	r = r <= 0 ? r : meet_methods(m, a, b, &rule);
	r = r <= 0 ? r : meet_patterns(m, &cover_url, "network.allow.paths", &a->paths, &b->paths, &rule.paths);
	r = r <= 0 ? r : meet_calls(m, a, b, &rule);
	if (r > 0 && (net_rule_only_posts(a) || net_rule_only_posts(b)) && !net_rule_only_posts(&rule))
		r = hold_to_posts(m, &rule);
	if (r <= 0)
		return r;
	if (a->credential.s && b->credential.s && strcmp(a->credential.s, b->credential.s) == 0)
		rule.credential = a->credential;
	return add(m, &rule);
}

/* The first of the ceiling's exact rules for this host. */
static uint32_t find_exact(const struct meet *m, const char *host)
{
	uint32_t low = 0, high = m->n_exact, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (strcmp(m->index[mid]->host, host) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* An exact host: the ceiling's rules for it and those that may be for it, in the ceiling's order. */
static int meet_exact(struct meet *m, const struct net_rule *a)
{
	uint32_t i = find_exact(m, a->host), k = m->n_exact, n = m->ceiling->net.allow.n;
	bool here;

	for (;;) {
		here = i < m->n_exact && strcmp(m->index[i]->host, a->host) == 0;
		if (!here && k == n)
			return 0;
		here = here && (k == n || m->index[i] < m->index[k]);
		if (meet_pair(m, a, here ? m->index[i++] : m->index[k++]) < 0)
			return -1;
	}
}

static int meet_rule(struct meet *m, const struct net_rule *a)
{
	uint32_t i;

	if (is_exact(a))
		return meet_exact(m, a);
	for (i = 0; i < m->ceiling->net.allow.n; i++)
		if (meet_pair(m, a, &m->ceiling->net.allow.v[i]) < 0)
			return -1;
	return 0;
}

/* There already, with or without a credential. */
static bool has_rule(const struct meet *m, uint32_t n, const struct net_rule *rule)
{
	struct net_rule bare;
	uint32_t i;

	for (i = 0; i < n; i++) {
		bare = m->out[i];
		bare.credential = (struct pol_str){0};
		if (merge_same_rule(&bare, rule))
			return true;
	}
	return false;
}

/* Without its credential, and unless it is among the first `known`, or at the address of a door. */
static int add_host(struct meet *m, const struct net_rule *host, const struct pol_inference *doors, uint32_t known)
{
	struct net_rule rule = *host;
	int r;

	rule.credential = (struct pol_str){0};
	if (has_rule(m, known, &rule) || ceiling_door_address(doors, rule.host))
		return 0;
	r = keep_usual(m, &rule);
	if (r <= 0)
		return r;
	return has_rule(m, known, &rule) ? 0 : add(m, &rule);
}

/* What both sides name opens as much. */
static bool is_met(const struct meet *m, const struct net_rule *rule)
{
	uint32_t i;

	for (i = 0; i < m->n_met; i++)
		if (net_rule_covers(&m->out[i], rule))
			return true;
	return false;
}

/* Rules that the other side opens by mode public alone must not open the hosts of that side's providers. Of a range
 * only what is public is added, and in mode public on both sides. */
static int shut_doors(struct meet *m, const struct net_rules *added, const struct pol_inference *doors)
{
	const struct net_rule *r;
	struct net_host h;
	uint32_t i, k;

	for (k = 0; k < doors->n_providers; k++) {
		net_provider_host(&doors->providers[k], &h);
		for (i = 0; i < added->n; i++) {
			r = &added->v[i];
			if (!net_rule_is_for(r, &h) ||
			    (r->cidr ? m->allowlist || h.class != HOST_PUBLIC : h.is_address) || is_met(m, r))
				continue;
			if (ceiling_door_shut(m->request, &h, doors->providers[k].at, m->err) < 0)
				return -1;
			break;
		}
	}
	return 0;
}

static bool is_never_public(const char *cidr)
{
	static const char *const ranges[] = {"0.0.0.0/8",      "10.0.0.0/8",    "100.64.0.0/10",  "127.0.0.0/8",
					     "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15",
					     "224.0.0.0/3",    "fc00::/7",      "fe80::/9",       "ff00::/8"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(ranges); i++)
		if (net_cidr_covers(ranges[i], cidr))
			return true;
	return false;
}

static struct address next_address(struct address a)
{
	size_t i;

	for (i = sizeof(a.b); i-- > 0 && ++a.b[i] == 0;)
		;
	return a;
}

/*
 * The public part of a range: a rule for each of its addresses, since the rule of a host never opens a private one, or
 * one of this machine's. They share the range's budget. A larger range without a rate only says what another's rate is
 * not for, and can be left out.
 */
static int add_range(struct meet *m, const struct net_rule *range)
{
	struct net_rule rule = *range;
	char text[ADDRESS_TEXT];
	struct address a;
	struct cidr c;
	uint32_t i;
	int r;

	if (!cidr_parse(sv_of(range->cidr), &c) || is_never_public(range->cidr) ||
	    (c.bits < 128 - RANGE_BITS && !range->rate.set))
		return 0;
	if (c.bits < 128 - RANGE_BITS)
		return policy_fail(m->request, m->request->net.mode.at, "network.mode", m->err,
				   "public is too much: below a ceiling the rate for %s (%.120s) can be held to in "
				   "mode public for ranges of at most %d addresses; use allowlist",
				   range->cidr, policy_where(m->ceiling, range->at), 1 << RANGE_BITS);
	rule.cidr = NULL;
	r = keep_usual(m, &rule);
	if (r <= 0)
		return r;
	for (i = 0, a = c.net; i < 1U << (128 - c.bits); i++, a = next_address(a)) {
		if (address_floor(&a) != FLOOR_NONE)
			continue;
		rule.host = arena_str(m->request->arena, sv_of(address_text(&a, text)));
		if (!rule.host)
			return policy_no_memory(m->err);
		if (add(m, &rule) < 0)
			return -1;
	}
	return 0;
}

/* Those up to the last that has a rate. */
static uint32_t count_rated(const struct net_rules *rules)
{
	uint32_t n = rules->n;

	while (n && !rules->v[n - 1].rate.set)
		n--;
	return n;
}

/* An address takes the rates of the ranges before it, of the first n rules, which are left out. */
static void hold_to_ranges(const struct net_rules *rules, uint32_t n, struct net_rule *rule)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (rules->v[i].cidr && rules->v[i].rate.set && net_rule_meets(&rules->v[i], rule))
			rule->rate = meet_rate(&rule->rate, &rules->v[i].rate);
}

/*
 * A mode of `public` on one side, whose providers are `doors`, allows every host rule of the other side, without its
 * credential: that takes both to name it. Ranges it does not: they may be private. But where both are public they may
 * hold back, as below.
 */
static int add_hosts(struct meet *m, const struct net_rules *rules, const struct pol_inference *doors)
{
	uint32_t i, known = m->n, rated = count_rated(rules);
	struct net_rule rule;

	if (shut_doors(m, rules, doors) < 0)
		return -1;
	for (i = 0; i < rules->n; i++) {
		rule = rules->v[i];
		if (m->allowlist && rule.host)
			hold_to_ranges(rules, i < rated ? i : rated, &rule);
		if (rule.host && add_host(m, &rule, doors, known) < 0)
			return -1;
		if (!rule.host && !m->allowlist && i < rated && add_range(m, &rules->v[i]) < 0)
			return -1;
	}
	return 0;
}

/*
 * Two of mode public: the rules of either open nothing more, but a rate holds back. So the ceiling's count, up to the
 * last that has one, since one before it may say what the rate is not for. The request's own come behind them.
 */
static int add_rated(struct meet *m)
{
	const struct pol_inference *doors = &m->request->inference;
	struct net_rules rules = m->ceiling->net.allow;
	uint32_t i, known = m->n;

	rules.n = count_rated(&rules);
	if (shut_doors(m, &rules, doors) < 0)
		return -1;
	/* They stay in their order. Those that came of this are not looked through for each of the next: there may be
	 * many. */
	for (i = 0; i < rules.n; i++)
		if ((rules.v[i].cidr ? add_range(m, &rules.v[i]) : add_host(m, &rules.v[i], doors, known)) < 0)
			return -1;
	return 0;
}

/* Whoever is asked may allow any host: that a ceiling has to say, unless it opens them all, and without counting. */
static void tighten_ask(struct pol_net *mine, const struct pol_net *theirs)
{
	bool asks = theirs->ask.set ? theirs->ask.v : theirs->mode.v == NET_PUBLIC;
	uint32_t i;

	for (i = 0; i < theirs->allow.n && !theirs->ask.set; i++)
		asks = asks && !theirs->allow.v[i].rate.set;
	if (mine->ask.v && !asks)
		mine->ask = (struct pol_num){.set = true, .at = theirs->ask.set ? theirs->ask.at : theirs->mode.at};
}

int ceiling_net(struct policy *request, const struct policy *ceiling, struct error *err)
{
	struct meet m = {.request = request, .ceiling = ceiling, .err = err};
	uint64_t mine = request->net.mode.v, theirs = ceiling->net.mode.v;
	uint32_t i;

	if (!ceiling->net.mode.set || !request->net.mode.set)
		return 0;
	m.allowlists = mine == NET_ALLOWLIST && theirs == NET_ALLOWLIST;
	m.allowlist = mine == NET_ALLOWLIST || theirs == NET_ALLOWLIST;
	tighten_ask(&request->net, &ceiling->net);
	if (mine != NET_NONE && theirs != NET_NONE) {
		if (build_index(&m) < 0)
			return -1;
		for (i = 0; i < request->net.allow.n; i++)
			if (meet_rule(&m, &request->net.allow.v[i]) < 0)
				return -1;
		m.n_met = m.n;
		if (theirs == NET_PUBLIC && mine == NET_PUBLIC && add_rated(&m) < 0)
			return -1;
		if (theirs == NET_PUBLIC && add_hosts(&m, &request->net.allow, &ceiling->inference) < 0)
			return -1;
		if (theirs == NET_ALLOWLIST && mine == NET_PUBLIC &&
		    add_hosts(&m, &ceiling->net.allow, &request->inference) < 0)
			return -1;
	}
	request->net.allow = (struct net_rules){.v = m.out, .n = m.n, .set = true};
	return merge_unique_rules(&request->net.allow) < 0 ? policy_no_memory(err) : 0;
}
