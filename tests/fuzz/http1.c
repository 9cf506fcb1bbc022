/*
 * HTTP/1.1, differential. The first byte says what kind of connection it is, the rest are its bytes. They are read at
 * once, byte by byte, and by a reader that knows the heads from the first: the same must come of it. Every message that
 * is accepted is written anew and read again: the same message must come of that, and nothing else. Between any two
 * pieces a reader can be asked what it holds.
 */
#include "http/h1.h"

#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "http/h1_write.h"

enum { OUT_MAX = 4 << 20, MESSAGES_MAX = 50, HELD_MAX = 4 * HTTP_MAX_HEAD + HTTP_MAX_TARGET };

/* Bits of the first byte. */
enum { RESPONSE = 1, PROXY = 2, TLS = 4, NAMED = 8, HEAD = 2, CONNECT = 4, WEBSOCKET = 8, SMALL = 16 };

struct kind {
	bool response;
	struct h1_context context;
	struct h1_asked asked;
	struct h1_limits limits;
};

static struct kind kind_of(uint8_t b)
{
	struct kind k = {
		.response = b & RESPONSE,
		.context = {.proxy = b & PROXY, .tls = b & TLS},
		.asked = {.head = b & HEAD, .connect = b & CONNECT, .websocket = b & WEBSOCKET},
		.limits = {.head = HTTP_MAX_HEAD, .target = HTTP_MAX_TARGET, .fields = HTTP_MAX_FIELDS},
	};

	if (b & NAMED) {
		k.context.host = sv_of("a.example");
		k.context.port = k.context.tls ? 443 : 80;
	}
	if (b & SMALL)
		k.limits = (struct h1_limits){.head = 200, .target = 60, .fields = 4, .body = 20};
	return k;
}

static struct h1 *reader_of(const struct kind *k)
{
	struct h1 *h = k->response ? h1_new_response(&k->limits) : h1_new_request(&k->context, &k->limits);

	if (!h)
		abort();
	h1_expect(h, k->asked);
	return h;
}

static void show_fields(struct buf *out, const struct http_fields *f)
{
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		(void)buf_sv(out, f->v[i].name);
		(void)buf_str(out, "=");
		(void)buf_sv(out, f->v[i].value);
		(void)buf_str(out, "\n");
	}
}

static void show_head(struct buf *out, const struct kind *k, const struct h1 *h)
{
	const struct http_request *q = h1_request(h);
	const struct http_response *r = h1_response(h);

	if (k->response) {
		(void)buf_printf(out, "%u %d %lld %d ", (unsigned)r->status, r->body, (long long)r->length,
				 r->websocket);
		(void)buf_sv(out, r->reason);
	} else {
		(void)buf_printf(out, "%d:%u %d %lld %d %d %d ", q->tls, (unsigned)q->port, q->body,
				 (long long)q->length, q->websocket, q->expect_continue, q->ambiguous_path);
		(void)buf_sv(out, q->method);
		(void)buf_char(out, ' ');
		(void)buf_sv(out, q->host);
		(void)buf_char(out, ' ');
		(void)buf_sv(out, q->target);
	}
	(void)buf_char(out, '\n');
	show_fields(out, k->response ? &r->fields : &q->fields);
}

/* One message, read: how it reads, and its bytes written anew. */
struct read_one {
	struct buf shown, body, written;
	bool over; /* nothing can follow */
};

static void write_head(struct read_one *m, const struct kind *k, const struct h1 *h, enum h1_body *body)
{
	const struct h1_reply to = {.asked = k->asked};
	int r = k->response ? h1_write_response(&m->written, h1_response(h), &to, body)
			    : h1_write_request(&m->written, h1_request(h), k->context.proxy, body);

	/* What the reader accepts the writer takes. */
	if (r < 0)
		abort();
}

static void write_body(struct read_one *m, enum h1_body body, const struct h1 *h)
{
	if (body == H1_BODY_CHUNKED) {
		if (m->body.n) {
			(void)h1_write_chunk(&m->written, m->body.n);
			(void)buf_sv(&m->written, buf_view(&m->body));
			(void)h1_write_chunk_end(&m->written);
		}
		if (h1_write_last_chunk(&m->written, h1_trailers(h)) < 0)
			abort();
	} else {
		if (body == H1_BODY_NONE && m->body.n)
			abort();
		(void)buf_sv(&m->written, buf_view(&m->body));
	}
}

static void finish(struct read_one *m, const struct h1 *h, enum h1_body body)
{
	(void)buf_str(&m->shown, "--\n");
	(void)buf_sv(&m->shown, buf_view(&m->body));
	(void)buf_str(&m->shown, "--\n");
	show_fields(&m->shown, h1_trailers(h));
	write_body(m, body, h);
	m->over = !h1_keeps(h);
}

/* What may be asked at any time, a head's midst included. */
static void check_between(const struct h1 *h)
{
	struct sv start, host;

	h1_seen(h, &start, &host);
	if (h1_held(h) > HELD_MAX || start.n > h1_held(h) || host.n > h1_held(h) || (h1_idle(h) && h1_amid_head(h)))
		abort();
}

/* True: a whole message. at_most: bytes given at once. Advances *in. */
static bool read_message(struct h1 *h, const struct kind *k, struct sv *in, size_t at_most, struct read_one *m)
{
	enum h1_body body = H1_BODY_NONE;
	struct sv piece, data;
	enum h1_event e;
	size_t given;

	for (;;) {
		given = in->n < at_most ? in->n : at_most;
		piece = sv_n(in->p, given);
		e = h1_read(h, &piece, &data);
		if (e == H1_MORE && piece.n)
			abort();
		check_between(h);
		*in = sv_n(in->p + (given - piece.n), in->n - (given - piece.n));
		if (e == H1_MORE && in->n == 0)
			e = h1_eof(h);
		switch (e) {
		case H1_MORE:
			if (in->n == 0)
				return false;
			break;
		case H1_HEAD:
			show_head(&m->shown, k, h);
			write_head(m, k, h, &body);
			break;
		case H1_DATA:
			if (data.n == 0)
				abort();
			(void)buf_sv(&m->body, data);
			break;
		case H1_END:
			finish(m, h, body);
			return true;
		case H1_ERROR:
			if (h1_fault(h).status < 400 || !h1_fault(h).reason)
				abort();
			buf_clear(&m->shown);
			(void)buf_printf(&m->shown, "%u %s\n", (unsigned)h1_fault(h).status, h1_fault(h).reason);
			return false;
		}
	}
}

static void one_init(struct read_one *m)
{
	buf_init(&m->shown, OUT_MAX);
	buf_init(&m->body, OUT_MAX);
	buf_init(&m->written, OUT_MAX);
	m->over = false;
}

static void one_done(struct read_one *m)
{
	buf_done(&m->shown);
	buf_done(&m->body);
	buf_done(&m->written);
}

/* Our own output, read again, is the same message to the last byte. */
static void check_again(const struct kind *k, const struct read_one *m)
{
	struct kind wide = *k;
	struct sv in = buf_view(&m->written);
	struct read_one again;
	struct h1 *h;

	wide.limits = kind_of(0).limits;
	h = reader_of(&wide);
	one_init(&again);
	if (!read_message(h, &wide, &in, in.n, &again) || in.n || !sv_eq(buf_view(&again.shown), buf_view(&m->shown)) ||
	    !sv_eq(buf_view(&again.written), buf_view(&m->written)))
		abort();
	one_done(&again);
	h1_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct kind k = kind_of(n ? bytes[0] : 0);
	struct sv whole = n ? sv_n((const char *)bytes + 1, n - 1) : sv_of(""), slow = whole, known = whole;
	struct h1 *a = reader_of(&k), *b = reader_of(&k), *c = reader_of(&k);
	struct h1_recent *recent = h1_recent_new();
	struct read_one fast_one, slow_one, known_one;
	bool more = true;
	int i;

	h1_remember(a, recent);
	h1_remember(c, recent);
	for (i = 0; i < MESSAGES_MAX && more; i++) {
		one_init(&fast_one);
		one_init(&slow_one);
		one_init(&known_one);
		more = read_message(a, &k, &whole, SIZE_MAX, &fast_one);
		if (read_message(c, &k, &known, SIZE_MAX, &known_one) != more || known.n != whole.n ||
		    !sv_eq(buf_view(&fast_one.shown), buf_view(&known_one.shown)) ||
		    !sv_eq(buf_view(&fast_one.written), buf_view(&known_one.written)))
			abort();
		if (read_message(b, &k, &slow, 1, &slow_one) != more ||
		    !sv_eq(buf_view(&fast_one.shown), buf_view(&slow_one.shown)))
			abort();
		if (more) {
			if (whole.n != slow.n)
				abort();
			check_again(&k, &fast_one);
			more = !fast_one.over;
			h1_next(a);
			h1_next(b);
			h1_next(c);
			h1_expect(a, k.asked);
			h1_expect(b, k.asked);
			h1_expect(c, k.asked);
		}
		one_done(&fast_one);
		one_done(&slow_one);
		one_done(&known_one);
	}
	h1_free(a);
	h1_free(b);
	h1_free(c);
	h1_recent_free(recent);
	return 0;
}
