#include "gate/relay/leaves.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gate/relay/channel.h"
#include "tls/leaf.h"
#include "vault/vault.h"

/* A host that is being minted for. */
struct leaf_order {
	struct leaf_order *next;
	struct relay_leaves *leaves;
	struct loop_timer timer;
	struct relay_leaf_wait waiters; /* head of their ring */
	uint32_t id;
	size_t n;
	char host[256];
};

struct relay_leaves {
	struct loop *loop;
	struct channel *vault;
	struct leaf_cache *cache;
	struct leaf_order *orders;
	unsigned n_orders;
	uint32_t next_id;
};

static struct leaf_order **place(struct relay_leaves *l, uint32_t id)
{
	struct leaf_order **p = &l->orders;

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

static void drop(struct leaf_order *o)
{
	struct relay_leaf_wait *w;

	loop_timer_cancel(&o->timer);
	while ((w = o->waiters.next) != &o->waiters)
		relay_leaf_cancel(w);
	free(o);
}

/* Answers all who wait for it: each may cancel others, none can join, since it is no longer listed. */
static void answer(struct leaf_order *o, bool minted)
{
	struct relay_leaves *l = o->leaves;
	struct leaf_order **p = place(l, o->id);
	struct relay_leaf_wait *w;

	*p = o->next;
	l->n_orders--;
	while ((w = o->waiters.next) != &o->waiters) {
		relay_leaf_cancel(w);
		w->fn(w->arg, minted ? relay_leaf_find(l, sv_n(o->host, o->n)) : NULL);
	}
	drop(o);
}

static void on_late(void *arg)
{
	answer(arg, false);
}

static bool on_message(void *user, struct wire_message *m)
{
	struct relay_leaves *l = user;
	struct tls_leaf *leaf = NULL;
	struct leaf_order *o;
	struct wire_in in;
	struct sv cert, key;
	struct error err;
	bool minted;
	uint32_t id;

	wire_in_init(&in, buf_view(&m->body));
	id = wire_get_u32(&in);
	cert = wire_get_sv(&in);
	key = wire_get_sv(&in);
	if (m->type != VAULT_MINTED || !wire_ok(&in) || m->n_fds)
		return false;
	o = *place(l, id);
	minted = o && cert.n && tls_leaf_new(cert, key, &leaf, &err) == 0;
	explicit_bzero(m->body.p, m->body.n);
	if (minted)
		minted = leaf_cache_take(l->cache, sv_n(o->host, o->n), leaf) == 0;
	if (o)
		answer(o, minted);
	return true;
}

static void on_gone(void *user)
{
	struct relay_leaves *l = user;

	while (l->orders)
		answer(l->orders, false);
}

static const struct channel_events events = {.message = on_message, .gone = on_gone};

int relay_leaves_new(struct loop *loop, int fd, struct relay_leaves **ret)
{
	struct relay_leaves *l = calloc(1, sizeof(*l));
	int r;

	if (l)
		l->cache = leaf_cache_new(RELAY_LEAVES);
	if (!l || !l->cache) {
		(void)close(fd);
		free(l);
		return -ENOMEM;
	}
	l->loop = loop;
	r = channel_new(loop, fd, &events, l, &l->vault);
	if (r < 0) {
		relay_leaves_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

void relay_leaves_free(struct relay_leaves *l)
{
	struct leaf_order *o;

	if (!l)
		return;
	while ((o = l->orders)) {
		l->orders = o->next;
		drop(o);
	}
	channel_free(l->vault);
	leaf_cache_free(l->cache);
	free(l);
}

const struct tls_leaf *relay_leaf_find(struct relay_leaves *l, struct sv host)
{
	return leaf_cache_find(l->cache, host, time(NULL));
}

static int order(struct relay_leaves *l, struct sv host, struct leaf_order **ret)
{
	AUTO_BUF body = {0};
	struct leaf_order *o;

	if (host.n == 0 || host.n >= sizeof(o->host) || l->n_orders >= RELAY_LEAF_HOSTS)
		return -EAGAIN;
	buf_init(&body, 512);
	wire_put_u32(&body, ++l->next_id);
	wire_put_sv(&body, host);
	if (buf_failed(&body) || channel_send(l->vault, VAULT_MINT, buf_view(&body)) < 0)
		return -EPIPE;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->leaves = l;
	o->id = l->next_id;
	o->n = host.n;
	memcpy(o->host, host.p, host.n);
	o->waiters.next = o->waiters.prev = &o->waiters;
	o->next = l->orders;
	l->orders = o;
	l->n_orders++;
	loop_timer_set(l->loop, &o->timer, RELAY_LEAF_MS, on_late, o);
	*ret = o;
	return 0;
}

int relay_leaf_wait(struct relay_leaves *l, struct relay_leaf_wait *w, struct sv host, relay_leaf_fn *fn, void *arg)
{
	struct leaf_order *o = l->orders;
	int r;

	while (o && !sv_eq(sv_n(o->host, o->n), host))
		o = o->next;
	if (!o) {
		r = order(l, host, &o);
		if (r < 0)
			return r;
	}
	*w = (struct relay_leaf_wait){.next = &o->waiters, .prev = o->waiters.prev, .fn = fn, .arg = arg};
	w->prev->next = w;
	o->waiters.prev = w;
	return 0;
}

void relay_leaf_cancel(struct relay_leaf_wait *w)
{
	if (!w->next)
		return;
	w->prev->next = w->next;
	w->next->prev = w->prev;
	w->next = w->prev = NULL;
}
