#include <errno.h>

#include "base/secret_memory.h"
#include "gate/egress/pool.h"
#include "gate/egress/upstream.h"

static void on_output(void *arg);

/* Output leaves at the end of the iteration: the session must not be asked from inside its own events, and many calls
 * share a write. */
static void wake(struct upstream *u)
{
	if (u->state == UPSTREAM_READY)
		loop_task_post(u->egress->loop, &u->task, on_output, u);
}

static void on_response(void *user, struct h2_stream *s, const struct http_response *r)
{
	struct call *c = h2_stream_user(s);

	(void)user;
	if (!c)
		return;
	c->began = true;
	c->events->response(c, r);
}

static void on_data(void *user, struct h2_stream *s, struct sv bytes)
{
	struct upstream *u = user;
	struct call *c = h2_stream_user(s);

	u->egress->quota.in += bytes.n;
	if (!c) {
		h2_consume(s, bytes.n);
		return;
	}
	c->held += bytes.n;
	c->events->data(c, bytes);
}

/* From now on the call knows nothing of the stream. */
static void detach(struct call *c)
{
	/* what the call still holds is in its own memory: the connection's window must not wait for it */
	if (c->held)
		h2_consume(c->stream, c->held);
	c->held = 0;
	h2_stream_set_user(c->stream, NULL);
	c->stream = NULL;
	c->up = NULL;
}

static void on_end(void *user, struct h2_stream *s, const struct http_fields *trailers)
{
	struct call *c = h2_stream_user(s);
	bool rest;

	if (!c)
		return;
	rest = !c->end_said || c->body_at < c->body.n;
	detach(c);
	if (rest)
		h2_reset(s, H2_NO_ERROR); /* it answered without waiting for the rest of the request, which is lent from
					     memory that goes now */
	c->events->end(c, trailers);
	wake(user);
}

static void on_taken(void *user, struct h2_stream *s, size_t n)
{
	struct upstream *u = user;
	struct call *c = h2_stream_user(s);

	if (!c) {
		egress_count_out(u->egress, n);
		return;
	}
	c->body_at += n;
	c->events->sent(c, n, true);
}

static void on_refused(void *user, struct h2_stream *s, uint16_t status, const char *why)
{
	struct call *c = h2_stream_user(s);

	(void)user;
	(void)status;
	(void)why;
	if (!c)
		return;
	detach(c);
	c->events->failed(c, GATE_FAILURE_PROTOCOL, false);
}

static void on_closed(void *user, struct h2_stream *s, uint32_t code)
{
	struct upstream *u = user;
	struct call *c = h2_stream_user(s);
	bool untouched = c && code == H2_REFUSED_STREAM && !c->began;

	u->n_calls--;
	if (c) {
		c->held = 0;
		c->stream = NULL;
		c->up = NULL;
		c->events->failed(c, GATE_FAILURE_CUT,
				  untouched || (u->used && c && !c->began && u->state == UPSTREAM_DEAD));
	}
	upstream_rest(u);
}

static void on_goaway(void *user, int32_t last, uint32_t code)
{
	struct upstream *u = user;

	(void)last;
	(void)code;
	u->draining = true;
	wake(u);
}

static const struct h2_events events_of_h2 = {
	.response = on_response,
	.data = on_data,
	.end = on_end,
	.taken = on_taken,
	.refused = on_refused,
	.closed = on_closed,
	.goaway = on_goaway,
};

int upstream_h2_start(struct upstream *u)
{
	const struct h2_config config = {.tls = site_key(u->site)->tls, .window = UPSTREAM_WINDOW};

	u->h2 = h2_new(&config, &events_of_h2, u);
	if (!u->h2)
		return -ENOMEM;
	loop_task_post(u->egress->loop, &u->task, on_output, u);
	return 0;
}

int upstream_h2_open(struct upstream *u, struct call *c, const struct http_request *r)
{
	uint64_t bytes = r->method.n + r->target.n + r->host.n + upstream_fields_size(&r->fields);
	int result;

	if (!quota_fits(&u->egress->quota, bytes))
		return -EDQUOT;
	result = h2_request(u->h2, r, c, &c->stream);
	if (result < 0) {
		c->stream = NULL;
		u->draining =
			u->draining || result == -EAGAIN; /* it said that it had room: nobody is to believe it again */
		return result;
	}
	egress_count_out(u->egress, bytes);
	u->n_calls++;
	c->up = u;
	c->end_said = !r->body;
	wake(u);
	return 0;
}

/* False: with these trailers it cannot be, and was given up. */
static bool say_end(struct upstream *u, struct call *c)
{
	enum gate_failure why = GATE_FAILURE_QUOTA;

	c->end_said = true;
	if (egress_may_send(u->egress, upstream_fields_size(&c->trailers))) {
		if (h2_end(c->stream, c->trailers.n ? &c->trailers : NULL) == 0)
			return true;
		why = GATE_FAILURE_INTERNAL;
	}
	upstream_h2_leave(c);
	c->events->failed(c, why, false);
	return false;
}

void upstream_h2_push(struct upstream *u, struct call *c)
{
	if (c->end_said)
		return;
	if (c->body_at < c->body.n)
		(void)h2_offer(c->stream, sv_n(c->body.p + c->body_at, c->body.n - c->body_at));
	if (c->body_ended && !say_end(u, c))
		return;
	wake(u);
}

void upstream_h2_consume(struct call *c, size_t n)
{
	h2_consume(c->stream, n);
	wake(c->up);
}

void upstream_h2_leave(struct call *c)
{
	struct upstream *u = c->up;
	struct h2_stream *s = c->stream;

	detach(c);
	h2_reset(s, H2_CANCEL);
	wake(u);
}

/* What the socket did not take. */
static bool keep(struct upstream *u, const char *p, size_t n)
{
	return upstream_reserve(u, n) == 0 && buf_add(&u->out, p, n) == 0;
}

/* True: all that there was is with the socket. */
static bool write_output(struct upstream *u)
{
	ssize_t n, taken;
	bool kept = true;

	while (upstream_flush(u) && !u->no_writes) {
		n = h2_output(u->h2, u->egress->scratch, EGRESS_SCRATCH);
		if (n < 0) {
			upstream_kill(u);
			return false;
		}
		if (n == 0)
			return true;
		taken = stream_write(u->stream, u->egress->scratch, (size_t)n);
		if (taken == -EIO)
			u->no_writes = true;
		else if (taken < n)
			kept = keep(u, u->egress->scratch + (taken < 0 ? 0 : taken),
				    (size_t)(n - (taken < 0 ? 0 : taken)));
		secret_wipe(u->egress->scratch, (size_t)n); /* heads have credentials in them */
		if (!kept) {
			/* frames that are not whole say something else than was judged */
			upstream_kill(u);
			return false;
		}
	}
	return u->no_writes;
}

static void on_output(void *arg)
{
	struct upstream *u = arg;

	if (!write_output(u))
		return;
	if (h2_over(u->h2) || (u->draining && u->n_calls == 0))
		upstream_kill(u);
}

static void read_some(struct upstream *u)
{
	unsigned turn;
	ssize_t n;

	for (turn = 0; u->state == UPSTREAM_READY; turn++) {
		if (turn == UPSTREAM_TURN) {
			stream_resume(u->stream, STREAM_READ);
			return;
		}
		n = stream_read(u->stream, u->egress->scratch, EGRESS_SCRATCH);
		if (n == -EAGAIN)
			return;
		if (n <= 0) {
			upstream_kill(u);
			return;
		}
		if (h2_input(u->h2, sv_n(u->egress->scratch, (size_t)n), loop_now(u->egress->loop)) < 0) {
			(void)write_output(u);
			upstream_kill(u);
			return;
		}
		u->read_later = u->state == UPSTREAM_READY && !write_output(u);
		if (u->read_later)
			return;
	}
}

void upstream_h2_events(struct upstream *u, unsigned events)
{
	if (events & STREAM_FAILED) {
		upstream_kill(u);
		return;
	}
	if (events & STREAM_WRITE)
		on_output(u);
	if (u->state == UPSTREAM_READY && ((events & STREAM_READ) || (u->read_later && u->out_at == u->out.n))) {
		u->read_later = false;
		read_some(u);
	}
}
