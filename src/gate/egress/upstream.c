#include "gate/egress/upstream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/secret_memory.h"
#include "gate/egress/pool.h"

/* Not cancelled when a call comes: most rest again long before this, and setting it anew is cheap. */
static void on_idle(void *arg)
{
	if (upstream_is_idle(arg))
		upstream_kill(arg);
}

static void on_dead(void *arg)
{
	struct upstream *u = arg;

	h2_free(u->h2); /* tells the calls that are left */
	h1_free(u->h1);
	stream_free(u->stream);
	if (u->out.p)
		secret_wipe(u->out.p, u->out.cap);
	buf_done(&u->out);
	free(u);
}

void upstream_kill(struct upstream *u)
{
	if (u->state == UPSTREAM_DEAD)
		return;
	u->state = UPSTREAM_DEAD;
	site_remove(u);
	dial_cancel(u->dial);
	u->dial = NULL;
	loop_timer_cancel(&u->timer);
	loop_timer_cancel(&u->amid_head);
	if (u->call)
		upstream_fail_call(u->call, GATE_FAILURE_CUT, false);
	/* the stack may be inside of its parser */
	loop_task_post(u->egress->loop, &u->task, on_dead, u);
}

void upstream_fail_call(struct call *c, enum gate_failure why, bool untouched)
{
	struct upstream *u = c->up;

	if (!u)
		return;
	if (u->call == c)
		u->call = NULL;
	if (c->stream)
		h2_stream_set_user(c->stream, NULL);
	c->stream = NULL;
	c->up = NULL;
	c->events->failed(c, why, untouched);
}

static void dial_failed(struct upstream *u, enum gate_failure why)
{
	site_dial_failed(u, why);
	upstream_kill(u);
}

static enum gate_failure failure_of(const struct stream *s)
{
	switch (stream_failure(s)) {
	case STREAM_CERT_UNTRUSTED:
	case STREAM_CERT_BAD:
		return GATE_FAILURE_UNTRUSTED;
	case STREAM_CERT_EXPIRED:
		return GATE_FAILURE_EXPIRED;
	case STREAM_CERT_NAME:
		return GATE_FAILURE_WRONG_NAME;
	case STREAM_SYSTEM:
		return GATE_FAILURE_INTERNAL;
	default:
		return GATE_FAILURE_TLS;
	}
}

static void ready(struct upstream *u)
{
	bool h2 = stream_alpn(u->stream) == ALPN_H2;

	loop_timer_cancel(&u->timer);
	if ((h2 ? upstream_h2_start(u) : upstream_h1_start(u)) < 0) {
		dial_failed(u, GATE_FAILURE_INTERNAL);
		return;
	}
	u->state = UPSTREAM_READY;
	site_learn(u->site, h2);
	if (u->claim)
		u->claim->own = NULL;
	u->claim = NULL;
	loop_timer_set(u->egress->loop, &u->timer, UPSTREAM_IDLE, on_idle, u);
	site_changed(u->site);
}

static void on_stream(void *arg, unsigned events)
{
	struct upstream *u = arg;

	if (u->state == UPSTREAM_DEAD)
		return;
	if (u->state == UPSTREAM_SHAKING) {
		if (events & STREAM_FAILED) {
			dial_failed(u, failure_of(u->stream));
			return;
		}
		if (!(events & STREAM_OPEN))
			return;
		ready(u);
		if (u->state != UPSTREAM_READY)
			return;
		events |= STREAM_READ;
	}
	if (u->h2)
		upstream_h2_events(u, events);
	else
		upstream_h1_events(u, events);
}

static void on_shake_limit(void *arg)
{
	dial_failed(arg, GATE_FAILURE_TIMEOUT);
}

static void on_dialled(void *arg, const struct dial_result *r)
{
	struct upstream *u = arg;
	const struct site_key *key = site_key(u->site);
	int fd = r->fd;

	u->dial = NULL;
	if (fd < 0) {
		dial_failed(u, r->why);
		return;
	}
	u->places = r->places;
	u->by_proxy = r->by_proxy;
	if (stream_new(u->egress->loop, fd, on_stream, u, &u->stream) < 0) {
		u->stream = NULL;
		dial_failed(u, GATE_FAILURE_INTERNAL);
		return;
	}
	if (!key->tls) {
		ready(u);
		return;
	}
	u->state = UPSTREAM_SHAKING;
	loop_timer_set(u->egress->loop, &u->timer, UPSTREAM_TLS_TIMEOUT, on_shake_limit, u);
	if (stream_tls_client(u->stream, u->egress->tls, key->host, key->only_h1 ? ALPN_H1 : ALPN_H1 | ALPN_H2) < 0)
		dial_failed(u, GATE_FAILURE_INTERNAL);
}

static enum gate_failure on_check(void *arg, const struct address *a, bool fixed)
{
	struct upstream *u = arg;

	/* nobody waits for it any more: nobody can say that the address is fine */
	return u->claim ? u->claim->events->check(u->claim, a, fixed) : GATE_FAILURE_ADDRESS;
}

void upstream_dial(struct upstream *u, struct sv host, uint16_t port)
{
	u->state = UPSTREAM_DIALLING;
	buf_init(&u->out, 4 * HTTP_MAX_HEAD);
	u->dial = dial_start(&u->egress->dialer, &(struct dial_request){.host = host,
									.port = port,
									.connect = site_key(u->site)->tls,
									.check = on_check,
									.done = on_dialled,
									.arg = u});
	if (!u->dial)
		dial_failed(u, GATE_FAILURE_INTERNAL);
}

bool upstream_is_idle(const struct upstream *u)
{
	return u->h2 ? u->n_calls == 0 : u->call == NULL;
}

bool upstream_is_local(const struct upstream *u)
{
	return !u->by_proxy && u->places.n == 1 && address_is_loopback(&u->places.v[0].address);
}

bool upstream_is_free(const struct upstream *u)
{
	return u->h2 ? !u->draining && h2_room(u->h2) > 0 : u->call == NULL;
}

int upstream_open(struct upstream *u, struct call *c, const struct http_request *r)
{
	int result;

	if (u->state != UPSTREAM_READY || !upstream_is_free(u))
		return -EAGAIN;
	c->held = 0;
	c->began = false;
	c->end_said = false;
	result = u->h2 ? upstream_h2_open(u, c, r) : upstream_h1_open(u, c, r);
	return result < 0 ? result : 0;
}

void upstream_push(struct call *c)
{
	if (!c->up || c->up->state != UPSTREAM_READY)
		return;
	if (c->up->h2)
		upstream_h2_push(c->up, c);
	else
		upstream_h1_push(c->up);
}

void upstream_consume(struct call *c, size_t n)
{
	c->held -= n < c->held ? n : c->held;
	if (!c->up || c->up->state != UPSTREAM_READY)
		return;
	if (c->up->h2)
		upstream_h2_consume(c, n);
	else if (c->held == 0)
		stream_resume(c->up->stream, STREAM_READ);
}

bool upstream_is_heard(const struct call *c)
{
	return !c->up || !c->up->read_later;
}

void upstream_leave(struct call *c)
{
	struct upstream *u = c->up;

	if (!u)
		return;
	if (u->h2) {
		upstream_h2_leave(c);
		return;
	}
	u->call = NULL;
	c->up = NULL;
	upstream_kill(u); /* amid a message: nobody can use it any more */
}

void upstream_rest(struct upstream *u)
{
	u->used = true;
	if (u->state == UPSTREAM_DEAD)
		return;
	/* answers come in bursts: one that is too many now may be wanted in a moment, and a new one would cost ten
	 * times a request */
	if (upstream_is_idle(u))
		loop_timer_set(u->egress->loop, &u->timer, site_is_crowded(u->site) ? UPSTREAM_SPARE : UPSTREAM_IDLE,
			       on_idle, u);
	site_changed(u->site);
}

int upstream_reserve(struct upstream *u, size_t n)
{
	struct buf larger;

	if (u->out.cap > u->out.n + n)
		return 0;
	buf_init(&larger, u->out.max);
	if (buf_reserve(&larger, u->out.n + n) < 0 || buf_sv(&larger, buf_view(&u->out)) < 0) {
		buf_done(&larger);
		return -ENOMEM;
	}
	if (u->out.p)
		secret_wipe(u->out.p, u->out.cap);
	buf_done(&u->out);
	u->out = larger;
	return 0;
}

size_t upstream_fields_size(const struct http_fields *f)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < f->n; i++)
		n += f->v[i].name.n + f->v[i].value.n;
	return n;
}

bool upstream_flush(struct upstream *u)
{
	ssize_t n;

	while (!u->no_writes && u->out_at < u->out.n) {
		n = stream_write(u->stream, u->out.p + u->out_at, u->out.n - u->out_at);
		if (n == -EAGAIN)
			return false;
		if (n < 0)
			u->no_writes = true;
		else
			u->out_at += (size_t)n;
	}
	/* heads have credentials in them; and an idle connection needs no buffer */
	if (u->out.p) {
		secret_wipe(u->out.p, u->out.cap);
		buf_done(&u->out);
		buf_init(&u->out, 4 * HTTP_MAX_HEAD);
	}
	u->out_at = 0;
	return true;
}
