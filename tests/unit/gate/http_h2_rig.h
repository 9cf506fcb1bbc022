/*
 * http_h2_rig: one end of an HTTP/2 connection that logs what it sees, and a raw peer that writes frames by hand, so
 * that it can send what no library would, and reads the frames that come back.
 */
#ifndef CORDON_TESTS_HTTP_H2_RIG_H
#define CORDON_TESTS_HTTP_H2_RIG_H

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "http/h2.h"
#include "http/h2_head.h"

/* Not every test uses all of it. */
#define MAYBE __attribute__((unused)) static

enum {
	DATA = 0,
	HEADERS = 1,
	PRIORITY = 2,
	RST_STREAM = 3,
	SETTINGS = 4,
	PUSH_PROMISE = 5,
	PING = 6,
	GOAWAY = 7,
	WINDOW_UPDATE = 8,
	CONTINUATION = 9,
	END_STREAM = 1,
	ACK = 1,
	END_HEADERS = 4,
	PADDED = 8,
	LOG_MAX = 1 << 20,
};

MAYBE const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/* One end: what it saw, as text, and how it behaves. */
struct end {
	struct h2 *h;
	struct buf log;
	struct buf raw;		  /* what the raw peer is about to send */
	struct h2_stream *stream; /* the last one that was told of */
	bool hold;		  /* does not consume */
	bool quiet;		  /* data is counted, not logged */
	size_t got, taken;
	int open, requests;
	const struct http_response *answer; /* to each request */
	uint16_t refused_status;
	bool answer_refusals;
	int64_t now;
};

MAYBE void log_fields(struct end *e, const struct http_fields *f)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		buf_printf(&e->log, " %.*s=%.*s", (int)f->v[i].name.n, f->v[i].name.p, (int)f->v[i].value.n,
			   f->v[i].value.p);
	buf_str(&e->log, "\n");
}

MAYBE void on_request(void *user, struct h2_stream *s, const struct http_request *r)
{
	struct end *e = user;

	e->stream = s;
	e->open++;
	e->requests++;
	h2_stream_set_user(s, e);
	buf_printf(&e->log, "request %.*s %s://%.*s:%u%.*s%s%s%s %lld", (int)r->method.n, r->method.p,
		   r->tls ? "https" : "http", (int)r->host.n, r->host.p, r->port, (int)r->target.n, r->target.p,
		   r->body ? " body" : "", r->websocket ? " websocket" : "", r->expect_continue ? " expect" : "",
		   (long long)r->length);
	log_fields(e, &r->fields);
	if (e->answer)
		CHECK(h2_respond(s, e->answer) == 0);
}

MAYBE void on_response(void *user, struct h2_stream *s, const struct http_response *r)
{
	struct end *e = user;

	e->stream = s;
	buf_printf(&e->log, "response %u%s%s %lld", r->status, r->body ? " body" : "", r->websocket ? " websocket" : "",
		   (long long)r->length);
	log_fields(e, &r->fields);
}

MAYBE void on_data(void *user, struct h2_stream *s, struct sv bytes)
{
	struct end *e = user;

	e->got += bytes.n;
	if (!e->quiet)
		buf_printf(&e->log, "data %.*s\n", (int)bytes.n, bytes.p);
	if (!e->hold)
		h2_consume(s, bytes.n);
}

MAYBE void on_end(void *user, struct h2_stream *s, const struct http_fields *trailers)
{
	struct end *e = user;

	(void)s;
	buf_str(&e->log, "end");
	log_fields(e, trailers);
}

MAYBE void on_taken(void *user, struct h2_stream *s, size_t n)
{
	(void)s;
	((struct end *)user)->taken += n;
}

MAYBE void on_refused(void *user, struct h2_stream *s, uint16_t status, const char *why)
{
	struct end *e = user;
	struct http_response r = {.status = status, .length = HTTP_LENGTH_UNKNOWN};

	e->refused_status = status;
	buf_printf(&e->log, "refused %u %s\n", status, why);
	if (e->answer_refusals && status)
		CHECK(h2_respond(s, &r) == 0);
}

MAYBE void on_closed(void *user, struct h2_stream *s, uint32_t code)
{
	struct end *e = user;

	buf_printf(&e->log, "closed %u\n", code);
	e->open--;
	if (e->stream == s)
		e->stream = NULL;
}

MAYBE void on_goaway(void *user, int32_t last, uint32_t code)
{
	buf_printf(&((struct end *)user)->log, "goaway %d %u\n", last, code);
}

MAYBE const struct h2_events events = {on_request, on_response, on_data,   on_end,
				       on_taken,   on_refused,  on_closed, on_goaway};

MAYBE void end_init(struct end *e, const struct h2_config *config)
{
	*e = (struct end){0};
	buf_init(&e->log, LOG_MAX);
	buf_init(&e->raw, 64 << 20);
	e->h = h2_new(config, &events, e);
	if (!e->h)
		abort();
}

MAYBE void end_done(struct end *e)
{
	h2_free(e->h);
	buf_done(&e->log);
	buf_done(&e->raw);
}

MAYBE bool saw(const struct end *e, const char *text)
{
	return e->log.n && strstr(e->log.p, text) != NULL;
}

/* The raw peer. */

MAYBE void frame(struct buf *b, int type, int flags, uint32_t id, const void *payload, size_t n)
{
	unsigned char h[9] = {(unsigned char)(n >> 16),  (unsigned char)(n >> 8),  (unsigned char)n,
			      (unsigned char)type,       (unsigned char)flags,     (unsigned char)(id >> 24),
			      (unsigned char)(id >> 16), (unsigned char)(id >> 8), (unsigned char)id};

	buf_add(b, h, sizeof(h));
	if (n)
		buf_add(b, payload, n);
}

MAYBE void hpack_int(struct buf *b, size_t n)
{
	if (n < 127) {
		buf_char(b, (char)n);
		return;
	}
	buf_char(b, 127);
	for (n -= 127; n >= 128; n >>= 7)
		buf_char(b, (char)(n % 128 + 128));
	buf_char(b, (char)n);
}

/* A literal, not indexed, not compressed: any bytes can be sent that way. */
MAYBE void hpack(struct buf *b, struct sv name, struct sv value)
{
	buf_char(b, 0);
	hpack_int(b, name.n);
	buf_sv(b, name);
	hpack_int(b, value.n);
	buf_sv(b, value);
}

MAYBE void raw_headers(struct end *e, uint32_t id, int flags, const char *const *pairs)
{
	AUTO_BUF block = {0};

	buf_init(&block, 1 << 20);
	for (; pairs[0]; pairs += 2)
		hpack(&block, sv_of(pairs[0]), sv_of(pairs[1]));
	frame(&e->raw, HEADERS, flags | END_HEADERS, id, block.p, block.n);
}

MAYBE int feed(struct end *e)
{
	int r = h2_input(e->h, buf_view(&e->raw), e->now);

	buf_clear(&e->raw);
	return r;
}

/* One byte at a time, which must make no difference. */
MAYBE void feed_slowly(struct end *e)
{
	size_t i;

	for (i = 0; i < e->raw.n; i++)
		(void)h2_input(e->h, sv_n(e->raw.p + i, 1), e->now);
	buf_clear(&e->raw);
}

MAYBE uint32_t be32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* All that the session sends now, as lines; settings and window updates are left out. */
MAYBE char *sent(struct end *e)
{
	static const char *const names[] = {"DATA",         "HEADERS", "PRIORITY", "RST_STREAM", NULL,
					    "PUSH_PROMISE", "PING",    "GOAWAY",   NULL,         "CONTINUATION"};
	AUTO_BUF bytes = {0};
	struct buf text;
	char out[H2_OUTPUT_MIN];
	ssize_t n;
	size_t at = 0;

	buf_init(&bytes, 64 << 20);
	buf_init(&text, LOG_MAX);
	while ((n = h2_output(e->h, out, sizeof(out))) > 0)
		buf_add(&bytes, out, (size_t)n);
	if (n < 0)
		buf_str(&text, "failed\n");
	buf_str(&text, "");
	if (sv_starts(buf_view(&bytes), preface))
		at = strlen(preface);
	while (at + 9 <= bytes.n) {
		const char *h = bytes.p + at;
		size_t len = be32(h) >> 8;
		int type = h[3];

		at += 9 + len;
		if (!names[type])
			continue;
		buf_printf(&text, "%s %u", names[type], be32(h + 5));
		if (type == RST_STREAM)
			buf_printf(&text, " code %u", be32(h + 9));
		else if (type == GOAWAY)
			buf_printf(&text, " code %u", be32(h + 13));
		else if (type == DATA)
			buf_printf(&text, " %zu", len);
		if ((type == DATA || type == HEADERS) && h[4] & END_STREAM)
			buf_str(&text, " last");
		buf_str(&text, "\n");
	}
	CHECK(at == bytes.n);
	return text.p ? text.p : strdup("");
}

MAYBE bool sends(struct end *e, const char *want)
{
	AUTO_FREE char *got = sent(e);
	bool found = strstr(got, want) != NULL;

	if (!found)
		printf("# sent: %s# log: %s", got, e->log.p ? e->log.p : "");
	return found;
}

MAYBE const struct h2_config server_config = {.server = true, .tls = true, .host = {"example.com", 11}, .port = 443};

MAYBE void server_init(struct end *e, const struct h2_config *config)
{
	AUTO_FREE char *settings = NULL;

	end_init(e, config);
	buf_str(&e->raw, preface);
	frame(&e->raw, SETTINGS, 0, 0, NULL, 0);
	frame(&e->raw, SETTINGS, ACK, 0, NULL, 0);
	/* The session's own must be out before it is acknowledged. */
	settings = sent(e);
	CHECK(feed(e) == 0);
}

#define GET ":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/"
#define POST ":method", "POST", ":scheme", "https", ":authority", "example.com", ":path", "/"

MAYBE const char *const get[] = {GET, NULL};
MAYBE const char *const post[] = {":method",     "POST",  ":scheme", "https", ":authority",
				  "example.com", ":path", "/",       NULL};

struct bad_head {
	const char *promise;
	uint16_t status; /* 0: reset by the library */
	const char *fields[24];
};

/* Feeds the raw bytes n times over; true when the connection was ended. */
MAYBE bool ends_after(struct end *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (h2_input(e->h, buf_view(&e->raw), e->now) < 0)
			break;
	buf_clear(&e->raw);
	return i < n;
}

MAYBE struct http_request request(const char *method, bool body)
{
	return (struct http_request){.method = sv_of(method),
				     .tls = true,
				     .host = sv_of("example.com"),
				     .port = 443,
				     .target = sv_of("/pkg.Service/Call"),
				     .body = body,
				     .length = body ? HTTP_LENGTH_UNKNOWN : 0};
}

#endif
