#include "gate/egress/pool.h"

#include <errno.h>
#include <stdlib.h>

enum { BUCKETS = 64, SCOUTS = 4 /* connections that are dialled before it is known what the server speaks */ };

struct site {
	struct site *same; /* of its bucket */
	struct pool *pool;
	struct site_key key;
	bool known, h2;
	struct upstream *first;
	unsigned n;
	struct claim *waiting, *last;
	struct loop_task work;
	struct loop_timer patience; /* of the one that waits longest */
	char host[];
};

struct pool {
	struct egress *egress;
	struct site *buckets[BUCKETS];
	unsigned n; /* connections */
	bool crowded; /* somebody waits for one of another site's to go */
};

static void on_work(void *arg);

struct pool *pool_new(struct egress *e)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (p)
		p->egress = e;
	return p;
}

const struct site_key *site_key(const struct site *s)
{
	return &s->key;
}

static void post(struct site *s)
{
	loop_task_post(s->pool->egress->loop, &s->work, on_work, s);
}

/* To wherever somebody waits. */
static void post_waiting(struct pool *p)
{
	struct site *s;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		for (s = p->buckets[i]; s; s = s->same)
			if (s->waiting)
				post(s);
}

void site_changed(struct site *s)
{
	struct pool *p = s->pool;

	post(s);
	if (p->crowded)
		post_waiting(p);
	p->crowded = false;
}

void site_learn(struct site *s, bool h2)
{
	s->known = true;
	s->h2 = h2;
}

bool site_is_crowded(const struct site *s)
{
	const struct upstream *u;
	unsigned n = 0;

	if (s->n <= POOL_SITE_IDLE)
		return false;
	for (u = s->first; u; u = u->next)
		n += u->state == UPSTREAM_READY && upstream_is_idle(u);
	return n > POOL_SITE_IDLE;
}

static size_t bucket_of(const struct site_key *k)
{
	size_t h = k->port, i;

	for (i = 0; i < k->host.n; i++)
		h = h * 31 + (unsigned char)k->host.p[i];
	return h % BUCKETS;
}

static struct site *find_site(struct pool *p, const struct site_key *key)
{
	size_t bucket = bucket_of(key);
	struct site *s;

	for (s = p->buckets[bucket]; s; s = s->same)
		if (s->key.tls == key->tls && s->key.inference == key->inference && s->key.only_h1 == key->only_h1 &&
		    s->key.port == key->port && sv_eq(s->key.host, key->host) &&
		    sv_eq(s->key.credential, key->credential))
			return s;
	s = calloc(1, sizeof(*s) + key->host.n + key->credential.n + 1);
	if (!s)
		return NULL;
	s->pool = p;
	s->key = *key;
	memcpy(s->host, key->host.p, key->host.n);
	s->key.host.p = s->host;
	if (key->credential.n)
		memcpy(s->host + key->host.n, key->credential.p, key->credential.n);
	s->key.credential.p = s->host + key->host.n;
	s->same = p->buckets[bucket];
	p->buckets[bucket] = s;
	return s;
}

static void free_site(struct site *s)
{
	struct site **at = &s->pool->buckets[bucket_of(&s->key)];

	while (*at != s)
		at = &(*at)->same;
	*at = s->same;
	loop_task_cancel(&s->work);
	loop_timer_cancel(&s->patience);
	free(s);
}

static void dequeue(struct claim *c)
{
	struct site *s = c->site;

	if (c->prev)
		c->prev->next = c->next;
	else
		s->waiting = c->next;
	if (c->next)
		c->next->prev = c->prev;
	else
		s->last = c->prev;
	if (c->own)
		c->own->claim = NULL; /* it becomes a spare one */
	c->own = NULL;
	c->site = NULL;
	c->next = c->prev = NULL;
}

/* May it go by this connection, wherever that leads? */
static bool passes(struct claim *c, const struct dial_places *p)
{
	unsigned i;

	for (i = 0; i < p->n; i++)
		if (c->events->check(c, &p->v[i].address, p->v[i].fixed) != GATE_FAILURE_NONE)
			return false;
	return true;
}

static struct upstream *usable(const struct site *s, struct claim *c)
{
	struct upstream *u;

	for (u = s->first; u; u = u->next)
		if (u->state == UPSTREAM_READY && upstream_is_free(u) && passes(c, &u->places))
			return u;
	return NULL;
}

int pool_claim(struct pool *p, const struct site_key *key, struct claim *c)
{
	struct site *s = find_site(p, key);
	struct upstream *u;

	if (!s)
		return -ENOMEM;
	u = s->waiting || c->patient ? NULL : usable(s, c);
	if (u) {
		c->events->ready(c, u);
		return 0;
	}
	c->site = s;
	c->own = NULL;
	c->since = loop_now(p->egress->loop);
	c->next = NULL;
	c->prev = s->last;
	if (s->last)
		s->last->next = c;
	else
		s->waiting = c;
	s->last = c;
	site_changed(s);
	return 0;
}

void pool_unclaim(struct claim *c)
{
	struct site *s = c->site;

	if (!s)
		return;
	dequeue(c);
	site_changed(s);
}

/* Room for one more: an idle one of somebody else has to go. */
static bool make_room(struct pool *p)
{
	struct upstream *u;
	struct site *s;
	size_t i;

	if (p->n < POOL_MAX)
		return true;
	for (i = 0; i < BUCKETS; i++)
		for (s = p->buckets[i]; s; s = s->same)
			for (u = s->first; u; u = u->next)
				if (u->state == UPSTREAM_READY && upstream_is_idle(u)) {
					upstream_kill(u);
					return true;
				}
	p->crowded = true;
	return false;
}

static unsigned under_way(const struct site *s)
{
	const struct upstream *u;
	unsigned n = 0;

	for (u = s->first; u; u = u->next)
		n += u->state == UPSTREAM_DIALLING || u->state == UPSTREAM_SHAKING;
	return n;
}

/* One connection of HTTP/2 serves many: they wait for it. */
static bool may_dial(const struct site *s)
{
	unsigned limit = POOL_SITE_MAX;

	if (s->key.tls && !s->key.only_h1 && (s->h2 || !s->known))
		limit = s->h2 ? 1 : SCOUTS;
	return s->n < POOL_SITE_MAX && under_way(s) < limit && make_room(s->pool);
}

/* No more may be dialled, whoever waits. */
static bool is_full(const struct site *s)
{
	return s->n >= POOL_SITE_MAX || s->pool->n >= POOL_MAX;
}

static void on_patience(void *arg);

/* Who waits where there is room waits for something else, and may for longer: a timer that has nothing to say would be
 * due again at once. */
static void be_patient(struct site *s)
{
	const struct claim *c = s->waiting;
	struct loop *loop = s->pool->egress->loop;

	while (c && c->own)
		c = c->next;
	if (!c || !is_full(s))
		loop_timer_cancel(&s->patience);
	else if (!loop_timer_armed(&s->patience))
		loop_timer_set(loop, &s->patience, c->since + POOL_WAIT - loop_now(loop), on_patience, s);
}

static void on_patience(void *arg)
{
	struct site *s = arg;
	const int64_t now = loop_now(s->pool->egress->loop);
	struct claim *c, *next;

	for (c = is_full(s) ? s->waiting : NULL; c; c = next) {
		next = c->next;
		if (c->own || c->since + POOL_WAIT > now)
			continue;
		dequeue(c);
		c->events->failed(c, GATE_FAILURE_CROWDED);
	}
	site_changed(s);
}

/* False: no memory. */
static bool dial_for(struct site *s, struct claim *c)
{
	struct upstream *u = calloc(1, sizeof(*u));

	if (!u)
		return false;
	u->egress = s->pool->egress;
	u->site = s;
	u->claim = c;
	c->own = u;
	u->next = s->first;
	if (u->next)
		u->next->prev = u;
	s->first = u;
	s->n++;
	s->pool->n++;
	if (s->pool->n == POOL_MAX)
		post_waiting(s->pool); /* from now on they have to be patient, at other sites too */
	upstream_dial(u, s->key.host, s->key.port);
	return true;
}

static void on_work(void *arg)
{
	struct site *s = arg;
	struct upstream *u;
	struct claim *c, *next;

	for (c = s->waiting; c; c = next) {
		next = c->next;
		u = usable(s, c);
		if (u) {
			dequeue(c);
			c->events->ready(c, u);
		} else if (!c->own && may_dial(s)) {
			if (!dial_for(s, c)) {
				dequeue(c);
				c->events->failed(c, GATE_FAILURE_INTERNAL);
			}
			/* one that fails at once takes others with it: from the start again, where those that have
			 * their own are passed over */
			next = s->waiting;
		}
	}
	if (!s->waiting && !s->first)
		free_site(s);
	else
		be_patient(s);
}

void site_dial_failed(struct upstream *u, enum gate_failure why)
{
	struct site *s = u->site;
	struct claim *c = u->claim, *next;

	if (c) {
		dequeue(c);
		c->events->failed(c, why);
	}
	/* those who waited for this connection, where it was the last hope; what is wrong with an address or for a
	 * credential may be right for another request */
	for (c = why == GATE_FAILURE_ADDRESS || why == GATE_FAILURE_RANGE || why == GATE_FAILURE_CREDENTIAL || s->n > 1
			 ? NULL
			 : s->waiting;
	     c; c = next) {
		next = c->next;
		if (!c->own) {
			dequeue(c);
			c->events->failed(c, why);
		}
	}
}

void site_remove(struct upstream *u)
{
	struct site *s = u->site;

	if (u->prev)
		u->prev->next = u->next;
	else
		s->first = u->next;
	if (u->next)
		u->next->prev = u->prev;
	u->next = u->prev = NULL;
	if (u->claim)
		u->claim->own = NULL;
	u->claim = NULL;
	u->site = NULL;
	s->n--;
	s->pool->n--;
	site_changed(s);
}

static bool leads_there(const struct generation *g, const struct site_key *k)
{
	struct net_host host;
	struct net_verdict v;
	uint32_t i;

	if (!k->inference) {
		net_rules_name(g->rules, k->host, k->port, &v);
		return v.allow;
	}
	for (i = 0; i < g->policy->inference.n_providers; i++) {
		net_provider_host(&g->policy->inference.providers[i], &host);
		if (sv_eq(sv_n(host.text, host.n), k->host))
			return true;
	}
	return false;
}

static void close_idle(struct site *s)
{
	struct upstream *u, *next;

	for (u = s->first; u; u = next) {
		next = u->next;
		if (u->state == UPSTREAM_READY && upstream_is_idle(u))
			upstream_kill(u);
	}
}

void pool_review(struct pool *p)
{
	struct site *s;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		for (s = p->buckets[i]; s; s = s->same)
			if (!leads_there(p->egress->now, &s->key))
				close_idle(s);
}

void pool_free(struct pool *p)
{
	struct site *s;
	size_t i;

	for (i = 0; p && i < BUCKETS; i++)
		while ((s = p->buckets[i])) {
			while (s->waiting)
				dequeue(s->waiting);
			while (s->first)
				upstream_kill(s->first);
			free_site(s);
		}
	free(p);
}
