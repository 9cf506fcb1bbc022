#include "gate/relay/session_h1.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "gate/relay/exchange.h"
#include "gate/relay/session.h"
#include "gate/relay/session_h2.h"
#include "gate/relay/tell.h"
#include "http/h1.h"
#include "http/h1_write.h"

enum {
	OUT_MAX = 4 * LINK_WINDOW,
	OUT_MANY = 64 * 1024, /* while so much waits for the client, no further request is read */
	WRITE_NOW = 4 * 1024, /* pieces that are worth a system call of their own */
	OUT_KEEP = 2 * 1024,  /* memory that an idle connection keeps */
	BEGUN_MAX = 32 << 20, /* bytes for all heads of which the end has not come: fewer of the largest than
				 cordon-init's bridge carries at once, or nobody else would get as far as us */
	BEGUN_SMALL = 4096,   /* each may have these: other clients go on beside one that fills the rest */
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct h1_session {
	struct session base;
	struct http_exchange x;
	struct h1 *h1;
	struct buf left; /* read, and not wanted yet */
	size_t left_at;
	size_t begun_size; /* of relay_http.heads_begun */
	struct buf out;
	size_t out_at;
	size_t owed; /* bytes of the answer in out */
	struct loop_task flush;
	enum h1_body framing;
	bool begun;	   /* something was read: it is HTTP/1.1 */
	bool busy;	   /* with a request, until its answer is complete */
	bool request_over; /* read to its end */
	bool answer_begun;
	bool raw;    /* a websocket */
	bool keep;   /* another request may follow this one */
	bool eof;    /* the client sends no more */
	bool closing; /* when out is empty */
	bool pumping;
	bool stalled; /* the client has not taken all of out */
};

static void on_time(void *arg);
static void on_flush(void *arg);
static void pump(struct h1_session *s);

static struct h1_session *of(struct http_exchange *x)
{
	return (struct h1_session *)((char *)x - offsetof(struct h1_session, x));
}

static const struct session_limits *limits(const struct h1_session *s)
{
	return session_limits_of(&s->base);
}

static void set_time(struct h1_session *s, int64_t ms)
{
	loop_timer_set(s->base.relay->loop, &s->base.timer, ms, on_time, s);
}

static void flush_soon(struct h1_session *s)
{
	loop_task_post(s->base.relay->loop, &s->flush, on_flush, s);
}

/* Nothing more is read; what is written arrives, then the stream is closed. */
static void close_after(struct h1_session *s)
{
	s->closing = true;
	http_exchange_abort(&s->x);
	flush_soon(s);
}

/* Writing. */

static void give_back(struct h1_session *s, size_t wrote)
{
	size_t n = s->out_at == s->out.n || wrote > s->owed ? s->owed : wrote;

	s->owed -= n;
	if (n)
		http_exchange_consumed(&s->x, n);
}

/* The client has a minute to take something. */
static void stall(struct h1_session *s)
{
	s->stalled = true;
	set_time(s, limits(s)->progress);
}

static void flush(struct h1_session *s)
{
	ssize_t n = 0;

	if (s->out_at < s->out.n)
		n = stream_write(s->base.stream, s->out.p + s->out_at, s->out.n - s->out_at);
	if (n < 0 && n != -EAGAIN) {
		session_end(&s->base, SESSION_ABORT);
		return;
	}
	if (n > 0) {
		s->out_at += (size_t)n;
		give_back(s, (size_t)n);
	}
	if (s->out_at < s->out.n) {
		stall(s);
		return;
	}
	s->out_at = 0;
	buf_clear(&s->out);
	if (s->out.cap > OUT_KEEP)
		buf_done(&s->out);
	if (s->stalled) {
		s->stalled = false;
		set_time(s, !s->busy           ? limits(s)->idle
			    : s->raw && s->eof ? limits(s)->hangup
			    : s->request_over  ? limits(s)->answer
					       : limits(s)->progress);
	}
	if (s->closing)
		session_end(&s->base, SESSION_CLOSE);
}

static void on_flush(void *arg)
{
	struct h1_session *s = arg;

	flush(s);
	if (!s->base.dead && !s->closing)
		pump(s);
}

/* Out of memory, or more than any client may leave waiting. */
static void check_out(struct h1_session *s)
{
	if (buf_failed(&s->out))
		session_end(&s->base, SESSION_ABORT);
	else
		flush_soon(s);
}

/* A large piece goes out at once, behind what waits; what the socket does not take waits too. */
static void write_now(struct h1_session *s, struct sv bytes)
{
	struct iovec v[2] = {{s->out.p + s->out_at, s->out.n - s->out_at}, {.iov_len = bytes.n}};
	size_t waiting = v[0].iov_len, body;
	ssize_t n;

	memcpy(&v[1].iov_base, &bytes.p, sizeof(bytes.p));
	n = stream_writev(s->base.stream, waiting ? v : v + 1, waiting ? 2 : 1);
	if (n < 0 && n != -EAGAIN) {
		session_end(&s->base, SESSION_ABORT);
		return;
	}
	n = n > 0 ? n : 0;
	body = (size_t)n > waiting ? (size_t)n - waiting : 0;
	s->out_at += (size_t)n - body;
	if (s->out_at == s->out.n) {
		buf_clear(&s->out);
		s->out_at = 0;
	}
	(void)buf_add(&s->out, bytes.p + body, bytes.n - body);
	s->owed += bytes.n;
	give_back(s, (size_t)n);
	if (body < bytes.n)
		stall(s);
}

/* Answering: the exchange's client. */

static int on_head(struct http_exchange *x, const struct http_response *r)
{
	struct h1_session *s = of(x);
	const struct http_request *asked = h1_request(s->h1);
	struct h1_reply to = {.asked = {.head = sv_is(asked->method, "HEAD"), .websocket = asked->websocket},
			      .http10 = h1_is_http10(s->h1)};
	struct http_response with_reason = *r;
	int e;

	if (r->status < 200 && !r->websocket && to.http10)
		return 0; /* 1.0 knows no interim answers */
	if (r->reason.n == 0)
		with_reason.reason = sv_of(h1_reason(r->status));
	/* nobody will read the rest of a body whose answer is here already */
	if (r->status >= 200 && !s->request_over)
		s->keep = false;
	to.close = !s->keep;
	e = h1_write_response(&s->out, &with_reason, &to, &s->framing);
	if (e == -EINVAL)
		return -1;
	if (r->status >= 200 || r->websocket) {
		s->answer_begun = true;
		if (s->request_over)
			set_time(s, limits(s)->answer);
	}
	s->raw = r->websocket;
	check_out(s);
	return 0;
}

static void on_data(struct http_exchange *x, struct sv bytes)
{
	struct h1_session *s = of(x);
	bool chunked = s->framing == H1_BODY_CHUNKED && !s->raw;

	if (chunked)
		(void)h1_write_chunk(&s->out, bytes.n);
	if (bytes.n >= WRITE_NOW) {
		write_now(s, bytes);
		if (s->base.dead)
			return;
	} else {
		(void)buf_sv(&s->out, bytes);
		s->owed += bytes.n;
	}
	if (chunked)
		(void)h1_write_chunk_end(&s->out);
	check_out(s);
}

/* Request and answer are complete: what is next? */
static void next_request(struct h1_session *s)
{
	http_exchange_abort(&s->x); /* where the end of the request is still on its way */
	if (!s->keep || s->eof) {
		/* a client that said its last word may have sent requests before it */
		if (!s->keep || s->left_at == s->left.n) {
			close_after(s);
			return;
		}
	}
	h1_next(s->h1);
	s->busy = s->request_over = s->answer_begun = false;
	set_time(s, limits(s)->idle);
}

static void on_end(struct http_exchange *x, const struct http_fields *trailers)
{
	struct h1_session *s = of(x);

	if (s->framing == H1_BODY_CHUNKED && h1_write_last_chunk(&s->out, trailers) == -EINVAL)
		(void)h1_write_last_chunk(&s->out, NULL);
	s->framing = H1_BODY_NONE;
	s->owed = 0; /* its link is gone: what is left in out must not count for the next one */
	check_out(s);
	if (s->base.dead)
		return;
	next_request(s); /* on_flush() goes on reading */
}

static void refuse(struct h1_session *s, const struct denial *d)
{
	const struct http_request *asked = s->busy ? h1_request(s->h1) : NULL;

	(void)denial_write(d, asked && sv_is(asked->method, "HEAD"), &s->out);
	close_after(s);
}

static void on_refuse(struct http_exchange *x, const struct denial *d)
{
	refuse(of(x), d);
}

/* Closing is the only way to say that the rest does not come; a chunked body lacks its end, a counted one its bytes. */
static void on_cut(struct http_exchange *x)
{
	static const struct linger reset = {.l_onoff = 1};
	struct h1_session *s = of(x);

	/* what ends with the connection would look complete in peace */
	if (s->framing == H1_BODY_CLOSE) {
		(void)setsockopt(stream_fd(s->base.stream), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		session_end(&s->base, SESSION_ABORT);
	} else {
		close_after(s);
	}
}

static void on_moved(struct http_exchange *x, size_t n)
{
	struct h1_session *s = of(x);

	(void)n;
	set_time(s, limits(s)->progress);
	if (!s->pumping)
		flush_soon(s); /* and reads on */
}

static const struct exchange_client client = {on_head, on_data, on_end, on_refuse, on_cut, on_moved};

/* Reading. */

static void refuse_fault(struct h1_session *s, uint16_t status, const char *why)
{
	bool begun = s->answer_begun;
	struct denial d;

	http_exchange_abort(&s->x);
	denial_set(&d, status, denial_code(status), NULL, "%s", why);
	if (begun)
		close_after(s);
	else
		refuse(s, &d);
}

/* Of a request that was judged already, its body or trailers. */
static void tell_fault(struct h1_session *s, struct h1_fault fault)
{
	struct sv start, host;

	if (fault.status == 500)
		return; /* ours */
	if (http_exchange_active(&s->x)) {
		tell_denied(&s->x, "", fault.reason);
		return;
	}
	h1_seen(s->h1, &start, &host);
	tell_malformed(s->base.relay, &s->base.origin, start, host, fault.reason);
}

static void on_request(struct h1_session *s)
{
	s->busy = true;
	s->request_over = s->answer_begun = false;
	s->framing = H1_BODY_NONE;
	s->keep = h1_keeps(s->h1) && !h1_is_http10(s->h1);
	set_time(s, h1_request(s->h1)->body ? limits(s)->progress : limits(s)->answer);
	http_exchange_begin(&s->x, h1_request(s->h1));
}

static void on_request_end(struct h1_session *s)
{
	s->request_over = true;
	set_time(s, s->eof ? limits(s)->hangup : limits(s)->answer);
	/* what follows the head of a websocket is its bytes, once it is open */
	if (!h1_request(s->h1)->websocket)
		http_exchange_end(&s->x, h1_trailers(s->h1));
}

/* Takes from *in until a request is complete, its body must wait, or all was taken. */
static void feed(struct h1_session *s, struct sv *in)
{
	struct sv data;

	while (!s->closing && !s->base.dead && !(s->busy && (s->request_over || !http_exchange_ready(&s->x)))) {
		switch (h1_read(s->h1, in, &data)) {
		case H1_MORE:
			return;
		case H1_HEAD:
			on_request(s);
			break;
		case H1_DATA:
			set_time(s, limits(s)->progress);
			http_exchange_data(&s->x, data);
			break;
		case H1_END:
			on_request_end(s);
			break;
		case H1_ERROR:
			tell_fault(s, h1_fault(s->h1));
			refuse_fault(s, h1_fault(s->h1).status, h1_fault(s->h1).reason);
			return;
		}
	}
}

static void feed_raw(struct h1_session *s, struct sv *in)
{
	struct sv all = *in;

	*in = sv_n(in->p + in->n, 0);
	http_exchange_data(&s->x, all);
}

/* True: the bytes are, or may become, the preface of HTTP/2. */
static bool is_preface(struct h1_session *s, struct sv in)
{
	size_t n = in.n < sizeof(preface) - 1 ? in.n : sizeof(preface) - 1;

	return !s->begun && !s->base.origin.proxy && !s->base.origin.tls && n && memcmp(in.p, preface, n) == 0;
}

static void hand_on(struct h1_session *s, struct sv in)
{
	struct session *b = &s->base;

	if (session_h2_start(b->relay, b->stream, &b->origin, in) < 0)
		session_end(b, SESSION_ABORT);
	else
		session_end(b, SESSION_HAND_ON);
}

/* Keeps what is left of in, which is of left itself or was just read. */
static void keep_left(struct h1_session *s, struct sv in, bool from_left)
{
	if (from_left)
		s->left_at = s->left.n - in.n;
	else if (in.n && buf_sv(&s->left, in) < 0)
		session_end(&s->base, SESSION_ABORT);
	if (s->left_at == s->left.n && s->left.p) {
		buf_done(&s->left);
		s->left_at = 0;
	}
}

static void count_begun(struct h1_session *s)
{
	struct relay_http *http = s->base.relay->http;
	size_t now = s->busy || s->base.dead ? 0 : h1_held(s->h1);

	http->heads_begun += now - s->begun_size;
	s->begun_size = now;
	if (now > BEGUN_SMALL && http->heads_begun > BEGUN_MAX && !s->closing)
		refuse_fault(s, 503, "too many requests with unfinished heads at once");
}

static void take(struct h1_session *s, struct sv in, bool from_left)
{
	bool idle = !s->busy && h1_idle(s->h1);

	if (is_preface(s, in) && in.n >= sizeof(preface) - 1) {
		hand_on(s, in);
		return;
	}
	s->begun = s->begun || !is_preface(s, in);
	if (s->raw)
		feed_raw(s, &in);
	else if (s->begun)
		feed(s, &in);
	count_begun(s);
	if (s->base.dead)
		return;
	if (idle && !s->busy && !s->closing)
		set_time(s, limits(s)->head); /* a head has begun: from here on, and not from each of its bytes */
	keep_left(s, in, from_left);
}

static void on_eof(struct h1_session *s)
{
	s->eof = true;
	if (s->raw) {
		/* the server is told, and has some time to say its last words */
		set_time(s, limits(s)->hangup);
		http_exchange_end(&s->x, NULL);
	} else if (!s->busy && (h1_idle(s->h1) || s->left_at < s->left.n))
		session_end(&s->base, SESSION_CLOSE);
	else if (!s->request_over && h1_eof(s->h1) == H1_ERROR)
		refuse_fault(s, h1_fault(s->h1).status, h1_fault(s->h1).reason);
	else
		set_time(s, limits(s)->hangup);
}

static bool may_read(const struct h1_session *s)
{
	if (s->base.dead || s->closing || s->out.n - s->out_at > OUT_MANY)
		return false;
	if (s->raw)
		return http_exchange_ready(&s->x);
	return !s->busy || (!s->request_over && http_exchange_ready(&s->x));
}

/* Is there something in left that the next call of take() would look at anew? A preface that is not complete is not. */
static bool left_waits(const struct h1_session *s)
{
	return s->left_at < s->left.n && s->begun;
}

static void read_more(struct h1_session *s, bool *done)
{
	char *room = s->base.relay->http->in;
	ssize_t n = stream_read(s->base.stream, room, SESSION_READ);

	*done = n <= 0;
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
	if (s->left_at == s->left.n) {
		take(s, sv_n(room, (size_t)n), false);
		return;
	}
	/* behind a piece of a preface */
	if (buf_add(&s->left, room, (size_t)n) < 0)
		session_end(&s->base, SESSION_ABORT);
	else
		take(s, sv_n(s->left.p + s->left_at, s->left.n - s->left_at), true);
}

static void pump(struct h1_session *s)
{
	bool done = false;

	if (s->pumping)
		return;
	s->pumping = true;
	while (!done && may_read(s)) {
		if (left_waits(s))
			take(s, sv_n(s->left.p + s->left_at, s->left.n - s->left_at), true);
		else if (s->eof && !s->raw)
			done = true;
		else if (s->eof)
			break;
		else
			read_more(s, &done);
	}
	s->pumping = false;
}

static void on_time(void *arg)
{
	struct h1_session *s = arg;

	if (s->closing || s->out_at < s->out.n)
		session_end(&s->base, SESSION_ABORT); /* the client does not read */
	else if (s->raw && s->eof)
		session_end(&s->base, SESSION_ABORT);
	else if (s->raw)
		set_time(s, limits(s)->answer);
	else if (!http_exchange_ready(&s->x))
		set_time(s, limits(s)->progress); /* not the client's fault: egress has limits of its own */
	else if (s->busy && s->request_over)
		session_end(&s->base, SESSION_ABORT);
	else if (s->busy || !h1_idle(s->h1))
		refuse_fault(s, 408, s->busy ? "the body does not come" : "the head of the request takes too long");
	else
		session_end(&s->base, SESSION_CLOSE);
}

static void on_stream(void *arg, unsigned events)
{
	struct h1_session *s = arg;

	if (events & STREAM_FAILED) {
		session_end(&s->base, SESSION_ABORT);
		return;
	}
	if (events & STREAM_HANGUP && s->busy && s->request_over && !s->raw && !s->answer_begun)
		set_time(s, limits(s)->hangup);
	if (events & STREAM_WRITE)
		flush(s);
	if (!s->base.dead && events & (STREAM_READ | STREAM_WRITE))
		pump(s);
}

/* As a session. */

static void judge_again(struct session *base)
{
	http_exchange_judge_again(&((struct h1_session *)base)->x);
}

static void stop(struct session *base)
{
	struct h1_session *s = (struct h1_session *)base;

	http_exchange_abort(&s->x);
	loop_task_cancel(&s->flush);
	s->base.relay->http->heads_begun -= s->begun_size;
	s->begun_size = 0;
}

static void free_session(struct session *base)
{
	struct h1_session *s = (struct h1_session *)base;

	h1_free(s->h1);
	buf_done(&s->left);
	buf_done(&s->out);
	free(s);
}

int session_h1_start(struct relay *r, struct stream *stream, const struct http_origin *o)
{
	static const struct session_kind kind = {judge_again, stop, free_session};
	struct h1_session *s = calloc(1, sizeof(*s));
	struct h1_context context = {.proxy = o->proxy, .server = o->inference, .tls = o->tls, .port = o->port};

	if (!s)
		return -1;
	s->base.origin = *o;
	context.host = sv_of(s->base.origin.host);
	s->h1 = h1_new_request(&context, NULL);
	if (!s->h1) {
		free(s);
		return -1;
	}
	h1_remember(s->h1, r->http->recent);
	buf_init(&s->left, 64 * 1024);
	buf_init(&s->out, OUT_MAX);
	session_begin(&s->base, &kind, r, stream, o);
	http_exchange_init(&s->x, r, &s->base.origin, &client);
	stream_listen(stream, on_stream, s);
	set_time(s, limits(s)->idle);
	pump(s);
	return 0;
}
