#include "policy/net_past.h"

#include <stdlib.h>

#include "policy/net_index.h"
#include "policy/net_judge.h"

struct net_past {
	struct arena *arena;
	struct net_rules hosts; /* host, and nothing else: no rule of a range has a credential */
	struct net_index *index;
};

static int by_host(const void *a, const void *b)
{
	const struct net_rule *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static void add(struct net_past *past, struct sv host)
{
	past->hosts.v[past->hosts.n++].host = arena_str(past->arena, host);
}

static void add_policy(struct net_past *past, const struct policy *p)
{
	struct net_host h;
	uint32_t i;

	for (i = 0; i < p->net.allow.n; i++)
		if (p->net.allow.v[i].credential.s && p->net.allow.v[i].host)
			add(past, sv_of(p->net.allow.v[i].host));
	for (i = 0; i < p->inference.n_providers; i++) {
		net_provider_host(&p->inference.providers[i], &h);
		if (p->inference.providers[i].credential.s && h.n)
			add(past, sv_n(h.text, h.n));
	}
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
	uint32_t n = (before ? before->hosts.n : 0) + p->net.allow.n + p->inference.n_providers, i;

	if (!past) {
		arena_free(a);
		return NULL;
	}
	past->arena = a;
	past->hosts.v = arena_array(a, (size_t)n + 1, sizeof(*past->hosts.v));
	for (i = 0; past->hosts.v && before && i < before->hosts.n; i++)
		add(past, sv_of(before->hosts.v[i].host));
	if (past->hosts.v)
		add_policy(past, p);
	if (!arena_failed(a)) {
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

bool net_past_has(const struct net_past *past, const struct net_host *h)
{
	struct net_host carried;
	struct net_cursor cursor;
	struct net_chain chain;
	uint32_t i;

	if (!past || past->hosts.n == 0)
		return false;
	for (i = 0; net_host_carried(h, i, &carried); i++)
		if (net_past_has(past, &carried))
			return true;
	net_index_find(past->index, h, &cursor);
	return net_index_next(&cursor, &chain);
}
