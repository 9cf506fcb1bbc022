#include <errno.h>

#include "base/secret_memory.h"
#include "gate/egress/pool.h"
#include "gate/egress/upstream.h"

/* LINES: what a head or the end of a body has besides its texts: the version, framing, separators of HTTP_MAX_FIELDS
 * fields. FRAME: around a piece. */
enum { PIECE = 32 * 1024, LINES = 4 * HTTP_MAX_FIELDS + 256, FRAME = 32 };

int upstream_h1_start(struct upstream *u)
{
	u->h1 = h1_new_response(NULL);
	if (!u->h1)
		return -ENOMEM;
	h1_remember(u->h1, u->egress->recent);
	return 0;
}

/* Nothing of what was written since then may go out. */
static void take_back(struct upstream *u, size_t before)
{
	if (u->out.p)
		secret_wipe(u->out.p + before, u->out.cap - before);
	u->out.n = before;
	u->out.failed = 0;
}

int upstream_h1_open(struct upstream *u, struct call *c, const struct http_request *r)
{
	size_t before = u->out.n;
	int result = upstream_reserve(u, r->method.n + r->target.n + 2 * r->host.n + upstream_fields_size(&r->fields) +
						 LINES);

	if (result == 0)
		result = h1_write_request(&u->out, r, u->by_proxy && !site_key(u->site)->tls, &u->body);
	if (result == 0 && !egress_may_send(u->egress, u->out.n - before))
		result = -EDQUOT;
	if (result < 0) {
		take_back(u, before);
		return result;
	}
	h1_expect(u->h1, (struct h1_asked){.head = sv_is(r->method, "HEAD"), .websocket = r->websocket});
	websocket_expect(&r->fields, u->accept);
	u->call = c;
	c->up = u;
	u->request_done = u->body == H1_BODY_NONE;
	u->last = r->last;
	(void)upstream_flush(u);
	return 0;
}

static void fail(struct upstream *u, enum gate_failure why)
{
	struct call *c = u->call;
	bool untouched = u->used && c && !c->began && why == GATE_FAILURE_CUT;

	u->call = NULL;
	upstream_kill(u);
	if (!c)
		return;
	c->up = NULL;
	c->events->failed(c, why, untouched);
}

/* What was just written, but for n bytes of it that are counted elsewhere, goes out as a whole or not at all: half of
 * it would be another request. False: not at all, and it was ended. */
static bool may_go(struct upstream *u, size_t before, size_t n)
{
	enum gate_failure why = GATE_FAILURE_INTERNAL;

	if (!buf_failed(&u->out)) {
		if (egress_may_send(u->egress, u->out.n - before - n))
			return true;
		why = GATE_FAILURE_QUOTA;
	}
	take_back(u, before);
	fail(u, why);
	return false;
}

static bool write_piece(struct upstream *u, struct sv piece)
{
	size_t before = u->out.n;

	u->out.failed = upstream_reserve(u, piece.n + FRAME);
	(void)h1_write_chunk(&u->out, piece.n);
	(void)buf_sv(&u->out, piece);
	(void)h1_write_chunk_end(&u->out);
	return may_go(u, before, piece.n);
}

/* One piece of the body. False: the socket is full, there is none, or it was ended. */
static bool send_piece(struct upstream *u, struct call *c)
{
	struct sv rest = sv_n(c->body.p + c->body_at, c->body.n - c->body_at);
	ssize_t n;

	if (rest.n == 0)
		return false;
	if (u->no_writes) {
		n = (ssize_t)rest.n; /* it goes nowhere; what the server said about it is still to be read */
	} else if (u->body == H1_BODY_CHUNKED && !u->raw) {
		n = (ssize_t)(rest.n < PIECE ? rest.n : PIECE);
		if (!write_piece(u, sv_n(rest.p, (size_t)n)))
			return false;
	} else {
		n = stream_write(u->stream, rest.p, rest.n);
		if (n == -EAGAIN)
			return false;
		if (n < 0) {
			u->no_writes = true;
			return true;
		}
	}
	c->body_at += (size_t)n;
	c->events->sent(c, (size_t)n, !u->no_writes);
	return true;
}

static void send_end(struct upstream *u, struct call *c)
{
	size_t before = u->out.n;

	u->request_done = true;
	if (u->raw) {
		stream_finish(u->stream);
		return;
	}
	if (u->body != H1_BODY_CHUNKED || u->no_writes)
		return;
	u->out.failed = upstream_reserve(u, upstream_fields_size(&c->trailers) + LINES);
	if (h1_write_last_chunk(&u->out, c->trailers.n ? &c->trailers : NULL) < 0)
		u->out.failed = -EINVAL;
	if (may_go(u, before, 0))
		(void)upstream_flush(u);
}

void upstream_h1_push(struct upstream *u)
{
	struct call *c = u->call;

	if (!c || (u->request_done && !u->raw))
		return;
	while (upstream_flush(u) && u->call == c && send_piece(u, c))
		;
	if (u->call != c || u->state != UPSTREAM_READY)
		return;
	if (c->body_ended && c->body_at == c->body.n && u->out_at == u->out.n && !u->request_done)
		send_end(u, c);
}

static void give(struct upstream *u, struct sv bytes)
{
	struct call *c = u->call;

	u->egress->quota.in += bytes.n;
	c->held += bytes.n;
	c->events->data(c, bytes);
}

/* The answer is complete. */
static void done(struct upstream *u, bool more_input)
{
	bool again = h1_keeps(u->h1) && u->request_done && !u->last && !more_input && !u->no_writes;
	struct call *c = u->call;

	u->call = NULL;
	c->up = NULL;
	c->events->end(c, h1_trailers(u->h1));
	if (!again) {
		upstream_kill(u);
		return;
	}
	h1_next(u->h1);
	upstream_rest(u);
}

/* Who says no, or speaks before all was said, may leave the rest of the body unread, and take it for the next request.
 */
static void note_unread(struct upstream *u)
{
	uint16_t status = h1_response(u->h1)->status;

	if (u->body != H1_BODY_NONE && status >= 200 && (status >= 300 || !u->request_done))
		u->last = true;
}

/* False: there is nothing more to do with these bytes, or with the connection. */
static bool step(struct upstream *u, struct sv *in)
{
	struct call *c = u->call;
	struct sv data;

	if (u->raw) {
		data = *in;
		in->n = 0;
		if (data.n)
			give(u, data);
		return false;
	}
	switch (h1_read(u->h1, in, &data)) {
	case H1_MORE:
		return false;
	case H1_HEAD:
		if (h1_response(u->h1)->websocket && !websocket_is_accepted(&h1_response(u->h1)->fields, u->accept)) {
			fail(u, GATE_FAILURE_PROTOCOL);
			return false;
		}
		note_unread(u);
		c->events->response(c, h1_response(u->h1));
		break;
	case H1_DATA:
		give(u, data);
		break;
	case H1_END:
		if (h1_response(u->h1)->websocket) {
			u->raw = true;
			u->request_done = false;
			upstream_h1_push(u);
			break;
		}
		done(u, in->n > 0);
		return false;
	case H1_ERROR:
		fail(u, h1_fault(u->h1).status == 500 ? GATE_FAILURE_INTERNAL : GATE_FAILURE_PROTOCOL);
		return false;
	}
	return u->state == UPSTREAM_READY && u->call == c;
}

static void read_end(struct upstream *u)
{
	struct call *c = u->call;

	if (!c) {
		upstream_kill(u);
		return;
	}
	if (!u->raw && h1_eof(u->h1) != H1_END) {
		fail(u, GATE_FAILURE_CUT);
		return;
	}
	u->call = NULL;
	c->up = NULL;
	c->events->end(c, u->raw ? NULL : h1_trailers(u->h1));
	upstream_kill(u);
}

static void on_head_limit(void *arg)
{
	fail(arg, GATE_FAILURE_TIMEOUT);
}

/* A server that drips may take as long as one that is silent, but for its heads: these are written at once. */
static void watch_head(struct upstream *u)
{
	bool amid = u->call && !u->raw && h1_amid_head(u->h1);

	if (!amid)
		loop_timer_cancel(&u->amid_head);
	else if (!loop_timer_armed(&u->amid_head))
		loop_timer_set(u->egress->loop, &u->amid_head, UPSTREAM_HEAD, on_head_limit, u);
}

static void read_some(struct upstream *u)
{
	struct sv in;
	unsigned turn;
	ssize_t n;

	for (turn = 0; u->state == UPSTREAM_READY; turn++) {
		if (u->call && u->call->held)
			return; /* upstream_consume() comes back here */
		if (turn == UPSTREAM_TURN) {
			stream_resume(u->stream, STREAM_READ);
			return;
		}
		n = stream_read(u->stream, u->egress->scratch, EGRESS_SCRATCH);
		if (n == -EAGAIN)
			return;
		if (n == 0) {
			read_end(u);
			return;
		}
		if (n < 0 || !u->call) { /* failed; or a server that speaks unasked */
			fail(u, GATE_FAILURE_CUT);
			return;
		}
		u->call->began = true;
		in = sv_n(u->egress->scratch, (size_t)n);
		while (step(u, &in))
			;
		if (u->state == UPSTREAM_READY)
			watch_head(u);
	}
}

void upstream_h1_events(struct upstream *u, unsigned events)
{
	if ((events & STREAM_FAILED) || ((events & STREAM_HANGUP) && !u->call)) {
		u->no_writes = true;
		events |= STREAM_READ;
	}
	if (events & STREAM_WRITE) {
		(void)upstream_flush(u);
		upstream_h1_push(u);
	}
	if ((events & STREAM_READ) && u->state == UPSTREAM_READY)
		read_some(u);
}
