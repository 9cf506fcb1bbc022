#include "policy/net_past.h"

#include <stdlib.h>

#include "policy/net_index.h"
#include "policy/net_judge.h"

struct net_past {
	struct arena *arena;
	struct net_rules hosts; /* host, ports and credential: no rule of a range has one */
	struct net_index *index;
};

/* By host, and then in any order that tells them apart. */
static int by_host(const void *a, const void *b)
{
	const struct net_rule *x = a, *y = b;
	int r = strcmp(x->host, y->host);

	if (r == 0)
		r = strcmp(x->credential.s, y->credential.s);
	if (r == 0)
		r = (x->n_ports > y->n_ports) - (x->n_ports < y->n_ports);
	return r || x->n_ports == 0 ? r : memcmp(x->ports, y->ports, x->n_ports * sizeof(*x->ports));
}

/* False: no memory. */
static bool add(struct net_past *past, struct sv host, const struct net_rule *r)
{
	struct net_rule *to = &past->hosts.v[past->hosts.n];

	to->host = arena_str(past->arena, host);
	to->credential.s = arena_str(past->arena, sv_of(r->credential.s));
	if (r->n_ports)
		to->ports = arena_array(past->arena, r->n_ports, sizeof(*to->ports));
	if (arena_failed(past->arena))
		return false;
	if (r->n_ports)
		memcpy(to->ports, r->ports, r->n_ports * sizeof(*to->ports));
	to->n_ports = r->n_ports;
	past->hosts.n++;
	return true;
}

static bool add_provider(struct net_past *past, const struct provider *p)
{
	struct net_rule r = {.credential = p->credential, .n_ports = 1};
	struct net_host h;
	uint16_t port;

	net_provider_host(p, &h);
	(void)net_provider_port(p, &port);
	r.ports = &port;
	return !p->credential.s || !h.n || add(past, sv_n(h.text, h.n), &r);
}

static bool add_policy(struct net_past *past, const struct policy *p)
{
	const struct net_rule *r;
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++) {
		r = &p->net.allow.v[i];
		if (r->credential.s && r->host && !add(past, sv_of(r->host), r))
			return false;
	}
	for (i = 0; i < p->inference.n_providers; i++)
		if (!add_provider(past, &p->inference.providers[i]))
			return false;
	return true;
}

static bool add_past(struct net_past *past, const struct net_past *before)
{
	uint32_t i;

	for (i = 0; before && i < before->hosts.n; i++)
		if (!add(past, sv_of(before->hosts.v[i].host), &before->hosts.v[i]))
			return false;
	return true;
}

static void keep_each_once(struct net_rules *hosts)
{
	uint32_t i, n = 0;

	qsort(hosts->v, hosts->n, sizeof(*hosts->v), by_host);
	for (i = 0; i < hosts->n; i++)
		if (n == 0 || by_host(&hosts->v[n - 1], &hosts->v[i]) != 0)
			hosts->v[n++] = hosts->v[i];
	hosts->n = n;
}

struct net_past *net_past_new(const struct net_past *before, const struct policy *p)
{
	struct arena *a = arena_new();
	struct net_past *past = a ? arena_alloc(a, sizeof(*past)) : NULL;
	uint32_t n = (before ? before->hosts.n : 0) + p->net.allow.n + p->inference.n_providers;

	if (!past) {
		arena_free(a);
		return NULL;
	}
	past->arena = a;
	past->hosts.v = arena_array(a, (size_t)n + 1, sizeof(*past->hosts.v));
	if (past->hosts.v && add_past(past, before) && add_policy(past, p)) {
		keep_each_once(&past->hosts);
		past->index = net_index_new(&past->hosts);
	}
	if (past->index)
		return past;
	net_past_free(past);
	return NULL;
}

void net_past_free(struct net_past *past)
{
	if (!past)
		return;
	net_index_free(past->index);
	arena_free(past->arena);
}

/* by: whom the question is for. */
static bool knows(const struct net_past *past, const struct net_host *by, const struct net_host *h, uint16_t port,
		  net_past_still_fn *still, const void *arg)
{
	const struct net_rule *r;
	struct net_host carried;
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	for (i = 0; net_host_carried(h, i, &carried); i++)
		if (knows(past, by, &carried, port, still, arg))
			return true;
	net_index_find(past->index, h, &cursor);
	while (net_index_next(&cursor, &chain))
		for (i = 0; i < chain.n; i++) {
			r = &past->hosts.v[chain.v[i]];
			if (net_port_allowed(r, port) || !still(arg, by, r->credential.s))
				return true;
		}
	return false;
}

bool net_past_knows(const struct net_past *past, const struct net_host *h, uint16_t port, net_past_still_fn *still,
		    const void *arg)
{
	return past && past->hosts.n && knows(past, h, h, port, still, arg);
}
