#include "policy/net_recent.h"

#include <stdlib.h>

struct entry {
	bool used, has_address;
	bool fixed;
	uint16_t port;
	struct net_asks asks;
	uint32_t from;
	size_t host, method, target; /* bytes of text, one behind the other */
	char text[NET_RECENT_TEXT];
	struct net_verdict request;
	struct address address;
	struct net_verdict to_address;
};

struct net_recent {
	const struct ruleset *rules;
	struct entry entries[NET_RECENT];
};

struct net_recent *net_recent_new(const struct ruleset *rules)
{
	struct net_recent *recent = calloc(1, sizeof(*recent));

	if (recent)
		recent->rules = rules;
	return recent;
}

void net_recent_free(struct net_recent *recent)
{
	free(recent);
}

/* NULL: too long to be kept. */
static struct entry *place_of(struct net_recent *recent, const struct net_request *q)
{
	size_t n = q->host.n + q->method.n + q->target.n;

	if (q->host.n > NET_RECENT_TEXT || q->method.n > NET_RECENT_TEXT || q->target.n > NET_RECENT_TEXT ||
	    n > NET_RECENT_TEXT || q->target.n == 0)
		return NULL;
	return &recent->entries[(n + (unsigned char)q->target.p[q->target.n - 1]) % NET_RECENT];
}

static bool is_about(const struct entry *e, const struct net_request *q)
{
	return e->used && e->port == q->port && e->from == q->from && e->asks.override == q->asks.override &&
	       e->asks.rewrite == q->asks.rewrite && e->asks.rehost == q->asks.rehost &&
	       sv_eq(sv_n(e->text, e->host), q->host) && sv_eq(sv_n(e->text + e->host, e->method), q->method) &&
	       sv_eq(sv_n(e->text + e->host + e->method, e->target), q->target);
}

static void begin(struct entry *e, const struct net_request *q)
{
	struct sv parts[] = {q->host, q->method, q->target};
	size_t i, at = 0;

	*e = (struct entry){.used = true,
			    .port = q->port,
			    .asks = q->asks,
			    .from = q->from,
			    .host = q->host.n,
			    .method = q->method.n,
			    .target = q->target.n};
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].n)
			memcpy(e->text + at, parts[i].p, parts[i].n);
		at += parts[i].n;
	}
}

void net_recent_request(struct net_recent *recent, const struct net_request *q, struct net_verdict *ret)
{
	struct entry *e = place_of(recent, q);

	if (e && is_about(e, q)) {
		*ret = e->request;
		return;
	}
	net_rules_request(recent->rules, q, ret);
	if (!e)
		return;
	begin(e, q);
	e->request = *ret;
}

void net_recent_address(struct net_recent *recent, const struct address *a, const struct net_request *q, bool fixed,
			struct net_verdict *ret)
{
	struct entry *e = place_of(recent, q);
	bool known = e && is_about(e, q); /* by net_recent_request(), which comes first */

	if (known && e->has_address && e->fixed == fixed && e->address.own == a->own && address_same(&e->address, a)) {
		*ret = e->to_address;
		return;
	}
	net_rules_address(recent->rules, a, q, fixed, ret);
	if (!known)
		return;
	e->has_address = true;
	e->address = *a;
	e->fixed = fixed;
	e->to_address = *ret;
}
