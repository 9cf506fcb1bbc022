#include "gate/relay/session_h2.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "gate/relay/exchange.h"
#include "gate/relay/session.h"
#include "gate/relay/tell.h"
#include "http/h2.h"

enum {
	OUT_MAX = 4 * LINK_WINDOW,
	SPARE_MAX = 8,	     /* requests whose memory is kept for the next ones */
	SPARE_KEEP = 4 * 1024, /* of a buffer */
	LINGER_MAX = 8 << 20,  /* of what a client sends after its answer */
};

/* One stream. */
struct h2_request {
	struct http_exchange x;
	struct h2_session *session;
	struct h2_stream *stream;
	struct buf out;	 /* what is offered, and what was taken of it */
	size_t out_at;
	bool whole;	 /* the client's request is complete */
	bool ours;	 /* the answer is our own: nobody waits for credit */
	bool asked_head; /* an answer has no body */
	struct loop_timer
		linger; /* the answer is complete, the request is not; or, in a websocket, the other way round */
	size_t dropped;		  /* of what came since then */
	struct h2_request *next, *prev; /* in one of the session's lists */
};

struct h2_session {
	struct session base;
	struct h2 *h2;
	struct buf waiting; /* of the connection, for the socket */
	size_t waiting_at;
	struct loop_task flush;
	unsigned n_open, n_partial; /* streams; those whose request is not complete */
	struct h2_request *requests, *spare;
	unsigned n_spare;
	bool eof, closing;
};

static void on_time(void *arg);
static void on_flush(void *arg);

static struct h2_request *of(struct http_exchange *x)
{
	return (struct h2_request *)((char *)x - offsetof(struct h2_request, x));
}

static const struct session_limits *limits(const struct h2_session *s)
{
	return session_limits_of(&s->base);
}

static void set_time(struct h2_session *s, int64_t ms)
{
	loop_timer_set(s->base.relay->loop, &s->base.timer, ms, on_time, s);
}

static void flush_soon(struct h2_session *s)
{
	if (!s->base.dead)
		loop_task_post(s->base.relay->loop, &s->flush, on_flush, s);
}

/* Requests: their memory. */

static const struct exchange_client client;

static struct h2_request *request_new(struct h2_session *s, struct h2_stream *stream)
{
	struct h2_request *q = s->spare;

	if (q) {
		s->spare = q->next;
		s->n_spare--;
	} else {
		q = calloc(1, sizeof(*q));
		if (!q)
			return NULL;
		buf_init(&q->out, OUT_MAX);
	}
	q->session = s;
	q->stream = stream;
	q->out_at = 0;
	q->dropped = 0;
	q->whole = q->ours = q->asked_head = false;
	http_exchange_init(&q->x, s->base.relay, &s->base.origin, &client);
	h2_stream_set_user(stream, q);
	q->prev = NULL;
	q->next = s->requests;
	if (q->next)
		q->next->prev = q;
	s->requests = q;
	s->n_open++;
	s->n_partial++;
	return q;
}

static void request_free(struct h2_request *q)
{
	struct h2_session *s = q->session;

	http_exchange_abort(&q->x);
	loop_timer_cancel(&q->linger);
	if (q->prev)
		q->prev->next = q->next;
	else
		s->requests = q->next;
	if (q->next)
		q->next->prev = q->prev;
	s->n_open--;
	s->n_partial -= !q->whole;
	buf_clear(&q->out);
	if (s->base.dead || s->n_spare >= SPARE_MAX) {
		buf_done(&q->out);
		free(q);
		return;
	}
	if (q->out.cap > SPARE_KEEP)
		buf_done(&q->out);
	q->next = s->spare;
	s->spare = q;
	s->n_spare++;
}

/* Answering: the exchange's client. */

/* Lends what waits, from its present place. */
static void offer(struct h2_request *q)
{
	(void)h2_offer(q->stream, sv_n(q->out.p + q->out_at, q->out.n - q->out_at));
	flush_soon(q->session);
}

static int on_head(struct http_exchange *x, const struct http_response *r)
{
	struct h2_request *q = of(x);

	/* any success says that a websocket is open; a server of HTTP/1.1 that knows none answers with its page */
	if (x->request->websocket && !r->websocket && r->status / 100 == 2)
		return -1;
	flush_soon(q->session);
	return h2_respond(q->stream, r) < 0 ? -1 : 0;
}

static void on_data(struct http_exchange *x, struct sv bytes)
{
	struct h2_request *q = of(x);

	if (q->out_at) {
		memmove(q->out.p, q->out.p + q->out_at, q->out.n - q->out_at);
		q->out.n -= q->out_at;
		q->out_at = 0;
	}
	if (buf_sv(&q->out, bytes) < 0) {
		http_exchange_abort(x);
		h2_reset(q->stream, H2_INTERNAL_ERROR);
		flush_soon(q->session);
		return;
	}
	offer(q);
}

static void stop_lingering(void *arg)
{
	struct h2_request *q = arg;

	loop_timer_cancel(&q->linger);
	h2_reset(q->stream, H2_NO_ERROR);
	flush_soon(q->session);
}

/*
 * The answer is complete, and the client may still send. A reset right behind the answer would tell it to stop, but
 * clients that meet both in one read (curl 7.88) report the reset and drop the answer. So it gets the time to read and
 * to end by itself; what it sends is thrown away.
 */
static void linger(struct h2_request *q)
{
	struct h2_session *s = q->session;

	if (q->whole)
		return;
	http_exchange_abort(&q->x);
	h2_linger(q->stream);
	loop_timer_set(s->base.relay->loop, &q->linger, limits(s)->linger, stop_lingering, q);
}

static void on_end(struct http_exchange *x, const struct http_fields *trailers)
{
	struct h2_request *q = of(x);

	/* trailers that cannot be sent are left out; without a body there is nothing to end */
	if (h2_end(q->stream, trailers) < 0)
		(void)h2_end(q->stream, NULL);
	linger(q);
	flush_soon(q->session);
}

static void refuse(struct h2_request *q, const struct denial *d)
{
	struct http_field fields[DENIAL_FIELDS];
	struct http_response r;
	bool bad;

	q->ours = true;
	buf_clear(&q->out);
	q->out_at = 0;
	bad = denial_message(d, fields, &q->out, &r) < 0;
	r.body = !q->asked_head;
	if (bad || h2_respond(q->stream, &r) < 0) {
		h2_reset(q->stream, H2_INTERNAL_ERROR);
	} else {
		linger(q);
		if (r.body) {
			offer(q);
			(void)h2_end(q->stream, NULL);
		}
	}
	flush_soon(q->session);
}

static void on_refuse(struct http_exchange *x, const struct denial *d)
{
	refuse(of(x), d);
}

static void on_cut(struct http_exchange *x)
{
	struct h2_request *q = of(x);

	h2_reset(q->stream, H2_INTERNAL_ERROR);
	flush_soon(q->session);
}

static void on_moved(struct http_exchange *x, size_t n)
{
	struct h2_request *q = of(x);

	h2_consume(q->stream, n);
	flush_soon(q->session);
}

static const struct exchange_client client = {on_head, on_data, on_end, on_refuse, on_cut, on_moved};

/* What the client says. */

static void complete(struct h2_request *q)
{
	if (!q->whole)
		q->session->n_partial--;
	q->whole = true;
}

static void got_request(void *user, struct h2_stream *stream, const struct http_request *r)
{
	struct h2_session *s = user;
	struct h2_request *q = request_new(s, stream);

	if (!q) {
		h2_reset(stream, H2_REFUSED_STREAM);
		return;
	}
	set_time(s, limits(s)->progress);
	q->asked_head = sv_is(r->method, "HEAD");
	if (r->websocket)
		complete(q); /* it has no end to wait for */
	http_exchange_begin(&q->x, r);
}

static void got_data(void *user, struct h2_stream *stream, struct sv bytes)
{
	struct h2_request *q = h2_stream_user(stream);

	(void)user;
	if (q && http_exchange_active(&q->x)) {
		http_exchange_data(&q->x, bytes);
		return;
	}
	/* refused, or answered before it was complete: nobody wants it */
	h2_consume(stream, bytes.n);
	if (!q)
		return;
	q->dropped += bytes.n;
	if (q->dropped > LINGER_MAX)
		stop_lingering(q);
}

static void stop_websocket(void *arg)
{
	struct h2_request *q = arg;

	http_exchange_abort(&q->x);
	h2_reset(q->stream, H2_CANCEL);
	flush_soon(q->session);
}

/* The client sends no more. The server is told, and has some time to say its last words: a websocket of which one end
 * is gone is of no use to anybody. */
static void end_websocket(struct h2_request *q)
{
	loop_timer_set(q->session->base.relay->loop, &q->linger, limits(q->session)->hangup, stop_websocket, q);
	http_exchange_end(&q->x, NULL);
}

static void got_end(void *user, struct h2_stream *stream, const struct http_fields *trailers)
{
	struct h2_request *q = h2_stream_user(stream);

	(void)user;
	if (!q)
		return;
	complete(q);
	loop_timer_cancel(&q->linger);
	if (http_exchange_active(&q->x) && q->x.request->websocket)
		end_websocket(q);
	else
		http_exchange_end(&q->x, trailers);
}

static void got_taken(void *user, struct h2_stream *stream, size_t n)
{
	struct h2_request *q = h2_stream_user(stream);

	(void)user;
	q->out_at += n;
	if (q->out_at == q->out.n) {
		buf_clear(&q->out);
		q->out_at = 0;
	}
	if (!q->ours)
		http_exchange_consumed(&q->x, n);
}

static void got_refused(void *user, struct h2_stream *stream, uint16_t status, const char *why)
{
	struct h2_session *s = user;
	struct h2_request *q = h2_stream_user(stream);
	struct denial d;

	if (q && http_exchange_active(&q->x))
		tell_denied(&q->x, "", why);
	else
		tell_malformed(s->base.relay, &s->base.origin, sv_n("", 0), sv_n("", 0), why);
	if (q)
		http_exchange_abort(&q->x);
	if (!status)
		return;
	if (!q)
		q = request_new(s, stream);
	if (!q)
		return;
	denial_set(&d, status, denial_code(status), NULL, "%s", why);
	refuse(q, &d);
}

static void got_closed(void *user, struct h2_stream *stream, uint32_t code)
{
	struct h2_session *s = user;
	struct h2_request *q = h2_stream_user(stream);

	(void)code;
	if (q)
		request_free(q);
	if (s->n_open == 0 && !s->base.dead)
		set_time(s, limits(s)->idle);
}

static const struct h2_events events = {
	.request = got_request,
	.data = got_data,
	.end = got_end,
	.taken = got_taken,
	.refused = got_refused,
	.closed = got_closed,
};

/* The connection. */

static bool write_some(struct h2_session *s, const char *p, size_t n)
{
	ssize_t wrote = stream_write(s->base.stream, p, n);

	if (wrote < 0 && wrote != -EAGAIN) {
		session_end(&s->base, SESSION_ABORT);
		return false;
	}
	wrote = wrote > 0 ? wrote : 0;
	if ((size_t)wrote == n)
		return true;
	if (buf_add(&s->waiting, p + wrote, n - (size_t)wrote) < 0)
		session_end(&s->base, SESSION_ABORT);
	else
		set_time(s, limits(s)->progress);
	return false;
}

static bool write_waiting(struct h2_session *s)
{
	size_t n = s->waiting.n - s->waiting_at;
	ssize_t wrote = n ? stream_write(s->base.stream, s->waiting.p + s->waiting_at, n) : 0;

	if (wrote < 0 && wrote != -EAGAIN) {
		session_end(&s->base, SESSION_ABORT);
		return false;
	}
	if (wrote > 0) {
		s->waiting_at += (size_t)wrote;
		set_time(s, limits(s)->progress);
	}
	if (s->waiting_at < s->waiting.n)
		return false;
	buf_done(&s->waiting);
	s->waiting_at = 0;
	return true;
}

/* False: the socket takes no more for now, or the session has ended. */
static bool flush(struct h2_session *s)
{
	char *room = s->base.relay->http->out;
	ssize_t n;

	if (!write_waiting(s))
		return false;
	while ((n = h2_output(s->h2, room, SESSION_READ)) > 0)
		if (!write_some(s, room, (size_t)n))
			return false;
	if (n == 0 && !h2_over(s->h2) && !(s->closing && s->n_open == 0))
		return true;
	session_end(&s->base, n < 0 ? SESSION_ABORT : SESSION_CLOSE);
	return false;
}

static void on_eof(struct h2_session *s)
{
	struct h2_request *q, *next;

	s->eof = true;
	if (s->n_partial || !s->n_open) {
		session_end(&s->base, SESSION_CLOSE);
		return;
	}
	s->closing = true; /* answers that are awaited may still be read */
	for (q = s->requests; q; q = next) {
		next = q->next;
		if (http_exchange_active(&q->x) && q->x.request->websocket)
			end_websocket(q);
	}
}

static void pump(struct h2_session *s)
{
	char *room = s->base.relay->http->in;
	ssize_t n;

	while (!s->base.dead && !s->eof && s->waiting.n == 0) {
		n = stream_read(s->base.stream, room, SESSION_READ);
		if (n == -EAGAIN)
			return;
		if (n < 0) {
			session_end(&s->base, SESSION_ABORT);
			return;
		}
		if (n == 0) {
			on_eof(s);
			return;
		}
		if (s->n_partial)
			set_time(s, limits(s)->progress);
		(void)h2_input(s->h2, sv_n(room, (size_t)n), loop_now(s->base.relay->loop));
		if (!flush(s))
			return;
	}
}

static void on_flush(void *arg)
{
	struct h2_session *s = arg;

	if (flush(s))
		pump(s);
}

/* Does a request wait for its client? Not where the link has no room for it: egress has limits of its own. */
static bool client_is_late(const struct h2_session *s)
{
	const struct h2_request *q;

	for (q = s->requests; q; q = q->next)
		if (!q->whole && http_exchange_ready(&q->x))
			return true;
	return false;
}

static void on_time(void *arg)
{
	struct h2_session *s = arg;

	if (s->waiting.n) {
		session_end(&s->base, SESSION_ABORT);
	} else if (s->n_open == 0 || client_is_late(s)) {
		h2_shutdown(s->h2);
		if (flush(s))
			session_end(&s->base, SESSION_CLOSE);
	} else {
		set_time(s, limits(s)->progress);
	}
}

static void on_stream(void *arg, unsigned what)
{
	struct h2_session *s = arg;

	if (what & STREAM_FAILED)
		session_end(&s->base, SESSION_ABORT);
	else if (flush(s))
		pump(s);
}

/* As a session. */

static void judge_again(struct session *base)
{
	struct h2_session *s = (struct h2_session *)base;
	struct h2_request *q;

	for (q = s->requests; q; q = q->next)
		http_exchange_judge_again(&q->x);
}

static void stop(struct session *base)
{
	struct h2_session *s = (struct h2_session *)base;
	struct h2_request *q;

	for (q = s->requests; q; q = q->next) {
		http_exchange_abort(&q->x);
		loop_timer_cancel(&q->linger);
	}
	base->relay->http->n_h2--;
	loop_task_cancel(&s->flush);
}

/* The streams go with it, so this may not happen inside of their events. */
static void free_session(struct session *base)
{
	struct h2_session *s = (struct h2_session *)base;
	struct h2_request *q;

	h2_free(s->h2);
	while ((q = s->spare)) {
		s->spare = q->next;
		buf_done(&q->out);
		free(q);
	}
	buf_done(&s->waiting);
	free(s);
}

bool session_h2_room(const struct relay *r)
{
	return r->http->n_h2 < SESSION_H2_MAX;
}

int session_h2_start(struct relay *r, struct stream *stream, const struct http_origin *o, struct sv first)
{
	static const struct session_kind kind = {judge_again, stop, free_session};
	struct h2_session *s = r->http->n_h2 < 2 * SESSION_H2_MAX ? calloc(1, sizeof(*s)) : NULL;
	struct h2_config config = {
		.server = true, .tls = o->tls, .port = o->port, .websocket = !o->inference, .window = H2_WINDOW_MIN};

	if (!s)
		return -1;
	s->base.origin = *o;
	config.host = sv_of(s->base.origin.host);
	s->h2 = h2_new(&config, &events, s);
	if (!s->h2) {
		free(s);
		return -1;
	}
	buf_init(&s->waiting, SESSION_READ);
	session_begin(&s->base, &kind, r, stream, o);
	r->http->n_h2++;
	stream_listen(stream, on_stream, s);
	set_time(s, limits(s)->head);
	if (first.n)
		(void)h2_input(s->h2, first, loop_now(r->loop));
	if (flush(s))
		pump(s);
	return 0;
}
