#include "gate/relay/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/relay/channel.h"
#include "gate/relay/tunnel.h"

/* Egress has time limits of its own; this one is for an egress that does not answer at all. */
enum { BUCKETS = 1024, ANSWER_MS = 60 * 1000 };

struct relay_calls {
	struct relay *relay;
	struct channel *egress;
	uint64_t next_id;
	struct relay_call *buckets[BUCKETS];
};

static struct relay_call **place(struct relay_calls *c, uint64_t id)
{
	struct relay_call **p = &c->buckets[id % BUCKETS];

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

/* Takes the call of that id out, or NULL: it was given up. */
static struct relay_call *take(struct relay_calls *c, uint64_t id)
{
	struct relay_call **p = place(c, id), *call = *p;

	if (!call)
		return NULL;
	*p = call->next;
	call->calls = NULL;
	loop_timer_cancel(&call->timer);
	return call;
}

static bool on_up(struct relay_calls *c, uint64_t id, struct wire_message *m)
{
	struct relay_call *call;

	if (m->n_fds != 1)
		return false;
	call = take(c, id);
	/* One that was given up has crossed with our word that it is over. */
	if (call)
		call->fn(call->arg, GATE_FAILURE_NONE, sv_n("", 0), fd_take(&m->fds[0]));
	return true;
}

static bool on_failed(struct relay_calls *c, uint64_t id, uint32_t why, struct sv text)
{
	struct relay_call *call;

	if (why == GATE_FAILURE_NONE || why >= GATE_FAILURES)
		return false;
	call = take(c, id);
	if (call)
		call->fn(call->arg, (enum gate_failure)why, text, -1);
	return true;
}

static bool on_message(void *user, struct wire_message *m)
{
	struct relay_calls *c = user;
	struct wire_in in;
	uint32_t n;
	struct sv text;
	uint64_t id;

	wire_in_init(&in, buf_view(&m->body));
	id = wire_get_u64(&in);
	if (m->type == GATE_TUNNEL_UP)
		return wire_ok(&in) && on_up(c, id, m);
	if (m->type == GATE_TUNNEL_GRANT) {
		n = wire_get_u32(&in);
		return wire_ok(&in) && relay_tunnel_granted(c->relay, id, n);
	}
	if (m->type != GATE_TUNNEL_FAILED)
		return false;
	n = wire_get_u32(&in);
	text = wire_get_sv(&in);
	return wire_ok(&in) && on_failed(c, id, n, text);
}

static void on_gone(void *user)
{
	struct relay_calls *c = user;

	relay_stop(c->relay);
}

static const struct channel_events events = {on_message, on_gone, .fds_may_be_lost = true};

int relay_calls_new(struct relay *r, int fd, struct relay_calls **ret)
{
	struct relay_calls *c = calloc(1, sizeof(*c));
	int e;

	if (!c) {
		(void)close(fd);
		return -ENOMEM;
	}
	c->relay = r;
	e = channel_new(r->loop, fd, &events, c, &c->egress);
	if (e < 0) {
		free(c);
		return e;
	}
	*ret = c;
	return 0;
}

void relay_calls_free(struct relay_calls *c)
{
	if (!c)
		return;
	channel_free(c->egress);
	free(c);
}

static void on_late(void *arg)
{
	struct relay_call *call = arg;
	struct relay_calls *c = call->calls;

	relay_call_over(c, call->id);
	(void)take(c, call->id);
	call->fn(call->arg, GATE_FAILURE_TIMEOUT, sv_n("", 0), -1);
}

static void on_no_room(void *arg)
{
	struct relay_call *call = arg;

	(void)take(call->calls, call->id);
	call->fn(call->arg, GATE_FAILURE_INTERNAL, sv_n("", 0), -1);
}

void relay_call(struct relay_calls *c, struct relay_call *call, struct sv host, uint16_t port, relay_call_fn *fn,
		void *arg)
{
	const struct gate_tunnel t = {
		.id = ++c->next_id, .generation = c->relay->now->number, .host = host, .port = port};
	struct relay_call **bucket = &c->buckets[t.id % BUCKETS];
	AUTO_BUF body = {0};
	bool sent;

	*call = (struct relay_call){.next = *bucket, .calls = c, .fn = fn, .arg = arg, .id = t.id};
	*bucket = call;
	buf_init(&body, 1024);
	gate_put_tunnel(&body, &t);
	sent = !channel_busy(c->egress) && !buf_failed(&body) &&
	       channel_send(c->egress, GATE_TUNNEL, buf_view(&body)) == 0;
	loop_timer_set(c->relay->loop, &call->timer, sent ? ANSWER_MS : 0, sent ? on_late : on_no_room, call);
}

void relay_call_cancel(struct relay_call *call)
{
	struct relay_calls *c = call->calls;

	if (!c)
		return;
	relay_call_over(c, call->id);
	(void)take(c, call->id);
}

void relay_call_over(struct relay_calls *c, uint64_t id)
{
	AUTO_BUF body = {0};

	buf_init(&body, 16);
	wire_put_u64(&body, id);
	/* Egress would hold connections for ever that it does not know to be over. */
	if (channel_send(c->egress, GATE_TUNNEL_OVER, buf_view(&body)) == -EAGAIN)
		relay_stop(c->relay);
}

int relay_call_want(struct relay_calls *c, uint64_t id, uint32_t n)
{
	AUTO_BUF body = {0};

	buf_init(&body, 16);
	wire_put_u64(&body, id);
	wire_put_u32(&body, n);
	return channel_send(c->egress, GATE_TUNNEL_WANT, buf_view(&body));
}
