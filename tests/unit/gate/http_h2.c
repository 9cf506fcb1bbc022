/*
 * Two kinds of test. A raw peer writes frames by hand, so that it can send what no library would, and reads the frames that come back. And a client and a server of ours
 * talk to each other through memory.
 */
#include "http/h2.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "http/h2_head.h"

enum {
	DATA = 0, HEADERS = 1, PRIORITY = 2, RST_STREAM = 3, SETTINGS = 4, PUSH_PROMISE = 5, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8, CONTINUATION = 9,
	END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8,
	LOG_MAX = 1 << 20,
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

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

static void log_fields(struct end *e, const struct http_fields *f)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		buf_printf(&e->log, " %.*s=%.*s", (int)f->v[i].name.n, f->v[i].name.p, (int)f->v[i].value.n, f->v[i].value.p);
	buf_str(&e->log, "\n");
}

static void on_request(void *user, struct h2_stream *s, const struct http_request *r)
{
	struct end *e = user;

	e->stream = s;
	e->open++;
	e->requests++;
	h2_stream_set_user(s, e);
	buf_printf(&e->log, "request %.*s %s://%.*s:%u%.*s%s%s%s %lld", (int)r->method.n, r->method.p, r->tls ? "https" : "http", (int)r->host.n, r->host.p, r->port,
		   (int)r->target.n, r->target.p, r->body ? " body" : "", r->websocket ? " websocket" : "", r->expect_continue ? " expect" : "",
		   (long long)r->length);
	log_fields(e, &r->fields);
	if (e->answer)
		CHECK(h2_respond(s, e->answer) == 0);
}

static void on_response(void *user, struct h2_stream *s, const struct http_response *r)
{
	struct end *e = user;

	e->stream = s;
	buf_printf(&e->log, "response %u%s%s %lld", r->status, r->body ? " body" : "", r->websocket ? " websocket" : "", (long long)r->length);
	log_fields(e, &r->fields);
}

static void on_data(void *user, struct h2_stream *s, struct sv bytes)
{
	struct end *e = user;

	e->got += bytes.n;
	if (!e->quiet)
		buf_printf(&e->log, "data %.*s\n", (int)bytes.n, bytes.p);
	if (!e->hold)
		h2_consume(s, bytes.n);
}

static void on_end(void *user, struct h2_stream *s, const struct http_fields *trailers)
{
	struct end *e = user;

	(void)s;
	buf_str(&e->log, "end");
	log_fields(e, trailers);
}

static void on_taken(void *user, struct h2_stream *s, size_t n)
{
	(void)s;
	((struct end *)user)->taken += n;
}

static void on_refused(void *user, struct h2_stream *s, uint16_t status, const char *why)
{
	struct end *e = user;
	struct http_response r = {.status = status, .length = HTTP_LENGTH_UNKNOWN};

	e->refused_status = status;
	buf_printf(&e->log, "refused %u %s\n", status, why);
	if (e->answer_refusals && status)
		CHECK(h2_respond(s, &r) == 0);
}

static void on_closed(void *user, struct h2_stream *s, uint32_t code)
{
	struct end *e = user;

	buf_printf(&e->log, "closed %u\n", code);
	e->open--;
	if (e->stream == s)
		e->stream = NULL;
}

static void on_goaway(void *user, int32_t last, uint32_t code)
{
	buf_printf(&((struct end *)user)->log, "goaway %d %u\n", last, code);
}

static const struct h2_events events = {on_request, on_response, on_data, on_end, on_taken, on_refused, on_closed, on_goaway};

static void end_init(struct end *e, const struct h2_config *config)
{
	*e = (struct end){0};
	buf_init(&e->log, LOG_MAX);
	buf_init(&e->raw, 64 << 20);
	e->h = h2_new(config, &events, e);
	if (!e->h)
		abort();
}

static void end_done(struct end *e)
{
	h2_free(e->h);
	buf_done(&e->log);
	buf_done(&e->raw);
}

static bool saw(const struct end *e, const char *text)
{
	return e->log.n && strstr(e->log.p, text) != NULL;
}

/* The raw peer. */

static void frame(struct buf *b, int type, int flags, uint32_t id, const void *payload, size_t n)
{
	unsigned char h[9] = {(unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n, (unsigned char)type, (unsigned char)flags,
			      (unsigned char)(id >> 24), (unsigned char)(id >> 16), (unsigned char)(id >> 8), (unsigned char)id};

	buf_add(b, h, sizeof(h));
	if (n)
		buf_add(b, payload, n);
}

static void hpack_int(struct buf *b, size_t n)
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
static void hpack(struct buf *b, struct sv name, struct sv value)
{
	buf_char(b, 0);
	hpack_int(b, name.n);
	buf_sv(b, name);
	hpack_int(b, value.n);
	buf_sv(b, value);
}

static void raw_headers(struct end *e, uint32_t id, int flags, const char *const *pairs)
{
	AUTO_BUF block = {0};

	buf_init(&block, 1 << 20);
	for (; pairs[0]; pairs += 2)
		hpack(&block, sv_of(pairs[0]), sv_of(pairs[1]));
	frame(&e->raw, HEADERS, flags | END_HEADERS, id, block.p, block.n);
}

static int feed(struct end *e)
{
	int r = h2_input(e->h, buf_view(&e->raw), e->now);

	buf_clear(&e->raw);
	return r;
}

/* One byte at a time, which must make no difference. */
static void feed_slowly(struct end *e)
{
	size_t i;

	for (i = 0; i < e->raw.n; i++)
		(void)h2_input(e->h, sv_n(e->raw.p + i, 1), e->now);
	buf_clear(&e->raw);
}

static uint32_t be32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* All that the session sends now, as lines; settings and window updates are left out. */
static char *sent(struct end *e)
{
	static const char *const names[] = {"DATA", "HEADERS", "PRIORITY", "RST_STREAM", NULL, "PUSH_PROMISE", "PING", "GOAWAY", NULL, "CONTINUATION"};
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

static bool sends(struct end *e, const char *want)
{
	AUTO_FREE char *got = sent(e);
	bool found = strstr(got, want) != NULL;

	if (!found)
		printf("# sent: %s# log: %s", got, e->log.p ? e->log.p : "");
	return found;
}

static const struct h2_config server_config = {.server = true, .tls = true, .host = {"example.com", 11}, .port = 443};

static void server_init(struct end *e, const struct h2_config *config)
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

static const char *const get[] = {GET, NULL};
static const char *const post[] = {":method", "POST", ":scheme", "https", ":authority", "example.com", ":path", "/", NULL};

static void a_request_arrives_whole(void)
{
	static const char *const fields[] = {":method", "POST", ":scheme", "https", ":path", "/a%2db?x=%41", ":authority", "EXAMPLE.com.:443", "te", "trailers",
					     "content-length", "5", "host", "example.com", "expect", "100-continue", "cookie", "a=1", "x-y", "z",
					     "cookie", "b=2", "trailer", "x", "proxy-authorization", "secret", "user-agent", "", NULL};
	static const char *const trailers[] = {"x-sum", "1", "authorization", "late", NULL};
	static const char *const want = "request POST https://example.com:443/a-b?x=A body expect 5 te=trailers cookie=a=1; b=2 x-y=z user-agent=\n"
					"data he\ndata llo\nend x-sum=1\n";
	struct end e;

	server_init(&e, &server_config);
	raw_headers(&e, 1, 0, fields);
	frame(&e.raw, DATA, 0, 1, "he", 2);
	frame(&e.raw, DATA, PADDED, 1, "\3llo\0\0\0", 7);
	raw_headers(&e, 1, END_STREAM, trailers);
	CHECK(feed(&e) == 0);
	CHECK_STR(e.log.p, want);
	end_done(&e);
}

static void splitting_input_makes_no_difference(void)
{
	struct end e;

	server_init(&e, &server_config);
	raw_headers(&e, 1, END_STREAM, get);
	feed_slowly(&e);
	CHECK_STR(e.log.p, "request GET https://example.com:443/ 0\nend\n");
	end_done(&e);
}

struct bad_head {
	const char *promise;
	uint16_t status; /* 0: reset by the library */
	const char *fields[24];
};

static const struct bad_head bad_heads[] = {
	{"no method", 0, {":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"no scheme", 0, {":method", "GET", ":authority", "example.com", ":path", "/"}},
	{"no path", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com"}},
	{"no authority", 0, {":method", "GET", ":scheme", "https", ":path", "/"}},
	{"no pseudo-header", 0, {"host", "example.com"}},
	{"method twice", 0, {GET, ":method", "GET"}},
	{"path twice", 0, {GET, ":path", "/admin"}},
	{"authority twice", 0, {GET, ":authority", "evil.com"}},
	{"scheme twice", 0, {GET, ":scheme", "https"}},
	{"pseudo-header after a field", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", "a", "b", ":path", "/"}},
	{"unknown pseudo-header", 0, {GET, ":x", "y"}},
	{"status in a request", 0, {GET, ":status", "200"}},
	{"pseudo-header in upper case", 0, {":METHOD", "GET", ":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"field in upper case", 0, {GET, "Accept", "x"}},
	{"field with a blank", 400, {GET, "a b", "x"}},
	{"field with a colon", 400, {GET, "a:b", "x"}},
	{"empty field name", 400, {GET, "", "x"}},
	{"line feed in a value", 400, {GET, "a", "b\nhost: evil.com"}},
	{"carriage return in a value", 400, {GET, "a", "b\rc"}},
	{"blank before a value", 400, {GET, "a", " b"}},
	{"blank after a value", 400, {GET, "a", "b\t"}},
	{"connection", 0, {GET, "connection", "close"}},
	{"keep-alive", 0, {GET, "keep-alive", "1"}},
	{"proxy-connection", 0, {GET, "proxy-connection", "close"}},
	{"transfer-encoding", 0, {GET, "transfer-encoding", "chunked"}},
	{"upgrade", 0, {GET, "upgrade", "h2c"}},
	{"http2-settings", 400, {GET, "http2-settings", "AAMAAABk"}},
	{"te: gzip", 0, {GET, "te", "gzip"}},
	{"te: trailers, gzip", 0, {GET, "te", "trailers, gzip"}},
	{"te: Trailers", 400, {GET, "te", "Trailers"}},
	{"underscores for hyphens in content-length", 400, {GET, "content_length", "5"}},
	{"underscores for hyphens in transfer-encoding", 400, {GET, "transfer_encoding", "chunked"}},
	{"host disagrees", 400, {GET, "host", "evil.com"}},
	{"host disagrees in its port", 400, {GET, "host", "example.com:80"}},
	{"host is malformed", 400, {GET, "host", "example.com,evil.com"}},
	{"host twice", 0, {GET, "host", "example.com", "host", "example.com"}},
	{"empty host beside authority", 0, {GET, "host", ""}},
	{"authority of another host", 421, {":method", "GET", ":scheme", "https", ":authority", "evil.com", ":path", "/"}},
	{"host alone, of another host", 421, {":method", "GET", ":scheme", "https", ":path", "/", "host", "evil.com"}},
	{"authority of another port", 421, {":method", "GET", ":scheme", "https", ":authority", "example.com:8443", ":path", "/"}},
	{"authority below the host", 421, {":method", "GET", ":scheme", "https", ":authority", "a.example.com", ":path", "/"}},
	{"authority with a user", 400, {":method", "GET", ":scheme", "https", ":authority", "example.com@evil.com", ":path", "/"}},
	{"authority with a path", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com/x", ":path", "/"}},
	{"empty authority", 0, {":method", "GET", ":scheme", "https", ":authority", "", ":path", "/"}},
	{"scheme of another connection", 400, {":method", "GET", ":scheme", "http", ":authority", "example.com", ":path", "/"}},
	{"scheme in upper case", 400, {":method", "GET", ":scheme", "HTTPS", ":authority", "example.com", ":path", "/"}},
	{"scheme unknown", 400, {":method", "GET", ":scheme", "file", ":authority", "example.com", ":path", "/"}},
	{"path empty", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", ""}},
	{"path without a slash", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "x"}},
	{"path that is a URL", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "https://evil.com/"}},
	{"path * without OPTIONS", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "*"}},
	{"path with a fragment", 400, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a#b"}},
	{"path with a blank", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a HTTP/1.1"}},
	{"path with a line feed", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/\nx"}},
	{"path with dot segments", 400, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a/../b"}},
	{"path with encoded dots", 400, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a/%2e%2E/b"}},
	{"path with an encoded NUL", 400, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/%00"}},
	{"method with a blank", 0, {":method", "GET /", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"method empty", 0, {":method", "", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"TRACE", 405, {":method", "TRACE", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"CONNECT", 0, {":method", "CONNECT", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"plain CONNECT", 405, {":method", "CONNECT", ":authority", "example.com:443"}},
	{"extended CONNECT that was not offered", 0, {":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"content-length that is no number", 0, {GET, "content-length", "5a"}},
	{"content-length with a sign", 0, {GET, "content-length", "+5"}},
	{"content-length below zero", 0, {GET, "content-length", "-1"}},
	{"content-length as a list", 0, {GET, "content-length", "5, 5"}},
	{"content-length too large for a number", 0, {GET, "content-length", "18446744073709551621"}},
	{"content-length large", 400, {GET, "content-length", "1000000000000000000"}},
	{"content-length twice", 0, {GET, "content-length", "5", "content-length", "5"}},
	{"expect something else", 417, {GET, "expect", "200-ok"}},
};

static void no_malformed_head_becomes_a_request(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad_heads); i++) {
		const struct bad_head *bad = &bad_heads[i];
		int before = check_failures;
		struct end e;

		server_init(&e, &server_config);
		raw_headers(&e, 1, 0, bad->fields);
		CHECK(feed(&e) == 0);
		CHECK(!saw(&e, "request"));
		CHECK(saw(&e, "refused"));
		CHECK(e.refused_status == bad->status);
		CHECK(sends(&e, "RST_STREAM 1 code 1\n"));
		CHECK(saw(&e, "closed 1\n"));
		/* The connection, and its compression state, are fine. */
		raw_headers(&e, 3, END_STREAM, get);
		CHECK(feed(&e) == 0);
		CHECK(saw(&e, "request GET"));
		if (check_failures != before)
			printf("# %s: %s", bad->promise, e.log.p ? e.log.p : "nothing\n");
		end_done(&e);
	}
}

static void a_nul_is_in_no_field(void)
{
	AUTO_BUF block = {0};
	struct end e;
	size_t i;

	server_init(&e, &server_config);
	buf_init(&block, 4096);
	for (i = 0; get[i]; i += 2)
		hpack(&block, sv_of(get[i]), sv_of(get[i + 1]));
	hpack(&block, sv_of("a"), sv_n("b\0c", 3));
	frame(&e.raw, HEADERS, END_HEADERS | END_STREAM, 1, block.p, block.n);
	CHECK(feed(&e) == 0);
	CHECK(saw(&e, "refused 400") && !saw(&e, "request"));
	end_done(&e);
}

static void a_refusal_can_be_answered(void)
{
	static const char *const wrong[] = {":method", "GET", ":scheme", "https", ":authority", "evil.com", ":path", "/", NULL};
	struct end e;

	server_init(&e, &server_config);
	e.answer_refusals = true;
	raw_headers(&e, 1, 0, wrong);
	frame(&e.raw, DATA, 0, 1, "lost", 4);
	CHECK(feed(&e) == 0);
	/* Complete, and the rest of the request is not wanted. */
	CHECK(sends(&e, "HEADERS 1 last\nRST_STREAM 1 code 0\n"));
	CHECK_STR(e.log.p, "refused 421 authority is not what the connection was opened for\nclosed 0\n");
	end_done(&e);
}

static void any_authority_passes_where_none_is_expected(void)
{
	static const struct h2_config any = {.server = true};
	static const char *const fields[] = {":method", "OPTIONS", ":scheme", "http", ":authority", "[2001:DB8::0:1]:81", ":path", "*", NULL};
	struct end e;

	server_init(&e, &any);
	raw_headers(&e, 1, END_STREAM, fields);
	CHECK(feed(&e) == 0);
	CHECK_STR(e.log.p, "request OPTIONS http://2001:db8::1:81* 0\nend\n");
	end_done(&e);
}

static void a_body_that_differs_from_its_length_never_ends(void)
{
	static const char *const five[] = {":method", "POST", ":scheme", "https", ":authority", "example.com", ":path", "/", "content-length", "5", NULL};
	static const struct {
		const char *body;
		int flags;
	} cases[] = {{"123", END_STREAM}, {"123456", 0}, {"123456", END_STREAM}, {"", END_STREAM}};
	struct end e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		server_init(&e, &server_config);
		raw_headers(&e, 1, 0, five);
		frame(&e.raw, DATA, cases[i].flags, 1, cases[i].body, strlen(cases[i].body));
		CHECK(feed(&e) == 0);
		CHECK(!saw(&e, "end") && !saw(&e, "123456"));
		CHECK(sends(&e, "RST_STREAM 1 code 1\n"));
		CHECK(saw(&e, "closed 1\n"));
		end_done(&e);
	}
	server_init(&e, &server_config);
	raw_headers(&e, 1, END_STREAM, five);
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "request") && sends(&e, "RST_STREAM 1 code 1\n"));
	end_done(&e);
}

static void trailers_are_fields_only(void)
{
	static const char *const bad[][3] = {{":path", "/x", NULL}, {":status", "200", NULL}, {"Upper", "x", NULL}, {"connection", "close", NULL}, {"a", "b\n", NULL}};
	struct end e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		server_init(&e, &server_config);
		raw_headers(&e, 1, 0, post);
		frame(&e.raw, DATA, 0, 1, "x", 1);
		raw_headers(&e, 1, END_STREAM, bad[i]);
		CHECK(feed(&e) == 0);
		CHECK(!saw(&e, "end") && saw(&e, "refused 0"));
		CHECK(sends(&e, "RST_STREAM 1 code 1\n"));
		end_done(&e);
	}
	/* Trailers that do not end the stream are a second head. */
	server_init(&e, &server_config);
	raw_headers(&e, 1, 0, post);
	raw_headers(&e, 1, 0, (const char *const[]){"a", "b", NULL});
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "end") && sends(&e, "RST_STREAM 1 code 1\n"));
	end_done(&e);
}

static void websocket_is_a_get_where_it_is_offered(void)
{
	static const struct h2_config offered = {.server = true, .tls = true, .host = {"example.com", 11}, .port = 443, .websocket = true};
	static const char *const good[] = {":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority", "example.com", ":path", "/ws",
					   "sec-websocket-version", "13", NULL};
	static const char *const other[] = {":method", "CONNECT", ":protocol", "connect-udp", ":scheme", "https", ":authority", "example.com", ":path", "/", NULL};
	static const char *const not_connect[] = {":method", "GET", ":protocol", "websocket", ":scheme", "https", ":authority", "example.com", ":path", "/", NULL};
	static const char *const elsewhere[] = {":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority", "evil.com", ":path", "/", NULL};
	struct http_response yes = {.status = 101, .websocket = true};
	struct end e;

	server_init(&e, &offered);
	raw_headers(&e, 1, 0, other);
	raw_headers(&e, 3, 0, not_connect);
	raw_headers(&e, 5, 0, elsewhere);
	raw_headers(&e, 7, 0, (const char *const[]){":method", "CONNECT", ":authority", "example.com", NULL});
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "request"));
	CHECK(saw(&e, "refused 501") && saw(&e, "refused 421") && e.refused_status == 405);
	CHECK(sends(&e, "RST_STREAM 7 code 1\n"));
	e.answer = &yes;
	raw_headers(&e, 9, 0, good);
	frame(&e.raw, DATA, 0, 9, "ping", 4);
	CHECK(feed(&e) == 0);
	CHECK(saw(&e, "request GET https://example.com:443/ws websocket 0 sec-websocket-version=13\ndata ping\n"));
	CHECK(h2_offer(e.stream, sv_of("pong")) == 0);
	CHECK(sends(&e, "HEADERS 9\nDATA 9 4\n"));
	end_done(&e);
}

/* A block of n fields that fills as many frames as it needs. */
static void raw_large_block(struct end *e, uint32_t id, size_t n, size_t value)
{
	AUTO_FREE char *filler = malloc(value);
	AUTO_BUF block = {0};
	size_t i, at = 0;

	memset(filler, 'x', value);
	buf_init(&block, 16 << 20);
	for (i = 0; get[i]; i += 2)
		hpack(&block, sv_of(get[i]), sv_of(get[i + 1]));
	for (i = 0; i < n; i++)
		hpack(&block, sv_of("x"), sv_n(filler, value));
	for (; at < block.n; at += 16384) {
		size_t piece = block.n - at < 16384 ? block.n - at : 16384;

		frame(&e->raw, at ? CONTINUATION : HEADERS, (at ? 0 : END_STREAM) | (at + piece == block.n ? END_HEADERS : 0), id, block.p + at, piece);
	}
}

static void heads_have_limits(void)
{
	static const struct {
		size_t n, value;
		bool fine;
	} cases[] = {{HTTP_MAX_FIELDS, 1, true}, {HTTP_MAX_FIELDS + 1, 1, false}, {5000, 0, false}, {6, 10000, true}, {7, 10000, false}, {1, 60000, true}, {1, 65536, false}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct end e;

		server_init(&e, &server_config);
		raw_large_block(&e, 1, cases[i].n, cases[i].value);
		CHECK(feed(&e) == 0);
		CHECK(saw(&e, "request") == cases[i].fine);
		CHECK(cases[i].fine || e.refused_status == 431);
		end_done(&e);
	}
}

static void one_byte_for_a_large_field_gains_nothing(void)
{
	AUTO_BUF block = {0};
	char large[4000];
	struct end e;
	size_t i;

	memset(large, 'x', sizeof(large));
	server_init(&e, &server_config);
	buf_init(&block, 1 << 20);
	for (i = 0; get[i]; i += 2)
		hpack(&block, sv_of(get[i]), sv_of(get[i + 1]));
	buf_char(&block, 0x40); /* a literal that is added to the table, then pointed at */
	hpack_int(&block, 1);
	buf_str(&block, "a");
	hpack_int(&block, sizeof(large));
	buf_add(&block, large, sizeof(large));
	for (i = 0; i < 10000; i++)
		buf_char(&block, (char)(0x80 | 62));
	frame(&e.raw, HEADERS, END_HEADERS | END_STREAM, 1, block.p, block.n);
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "request") && e.refused_status == 431);
	end_done(&e);
}

static void a_long_target_is_refused(void)
{
	char path[HTTP_MAX_TARGET + 2];
	const char *fields[] = {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", path, NULL};
	struct end e;

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	server_init(&e, &server_config);
	e.raw.n = 0;
	{
		AUTO_BUF block = {0};
		size_t i;

		buf_init(&block, 1 << 20);
		for (i = 0; fields[i]; i += 2)
			hpack(&block, sv_of(fields[i]), sv_of(fields[i + 1]));
		frame(&e.raw, HEADERS, END_STREAM, 1, block.p, 16384);
		frame(&e.raw, CONTINUATION, END_HEADERS, 1, block.p + 16384, block.n - 16384);
	}
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "request") && e.refused_status == 414);
	end_done(&e);
}

/* Feeds the raw bytes n times over; true when the connection was ended. */
static bool ends_after(struct end *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (h2_input(e->h, buf_view(&e->raw), e->now) < 0)
			break;
	buf_clear(&e->raw);
	return i < n;
}

static void continuations_do_not_go_on_for_ever(void)
{
	struct end e;
	int i;

	server_init(&e, &server_config);
	frame(&e.raw, HEADERS, 0, 1, "", 0);
	for (i = 0; i < 100; i++)
		frame(&e.raw, CONTINUATION, 0, 1, "", 0);
	(void)feed(&e);
	{
		AUTO_FREE char *got = sent(&e);

		CHECK(strstr(got, "GOAWAY") || strstr(got, "failed"));
		CHECK(h2_over(e.h));
	}
	end_done(&e);
}

static void floods_of_frames_that_carry_nothing_end_the_connection(void)
{
	static const struct {
		int type, flags;
		uint32_t id;
		const char *payload;
		size_t n;
	} cases[] = {
		{PING, 0, 0, "12345678", 8},
		{PING, ACK, 0, "12345678", 8},
		{SETTINGS, 0, 0, "", 0},
		{PRIORITY, 0, 3, "\0\0\0\0\1", 5},
		{WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4},
		{WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4},
		{DATA, 0, 1, "", 0},
		{DATA, PADDED, 1, "\1\0", 2},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct end e;

		server_init(&e, &server_config);
		raw_headers(&e, 1, 0, post);
		CHECK(feed(&e) == 0);
		frame(&e.raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].n);
		CHECK(!ends_after(&e, 900));
		frame(&e.raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].n);
		CHECK(ends_after(&e, 200));
		CHECK(sends(&e, "GOAWAY 0 code 11\n"));
		CHECK(h2_over(e.h));
		end_done(&e);
	}
}

static void a_slow_ping_is_no_flood(void)
{
	struct end e;
	int i;

	server_init(&e, &server_config);
	for (i = 0; i < 5000; i++) {
		e.now += 1000;
		frame(&e.raw, PING, 0, 0, "12345678", 8);
		CHECK(feed(&e) == 0);
		free(sent(&e));
	}
	end_done(&e);
}

static void resetting_what_was_not_answered_has_a_limit(void)
{
	static const char codes[] = {H2_NO_ERROR, H2_CANCEL, 0x42};
	size_t i;

	for (i = 0; i < sizeof(codes); i++) {
		const char code[] = {0, 0, 0, codes[i]};
		bool over = false;
		struct end e;
		uint32_t id;

		server_init(&e, &server_config);
		for (id = 1; id < 2 * 1000 && !over; id += 2) {
			raw_headers(&e, id, END_STREAM, get);
			frame(&e.raw, RST_STREAM, 0, id, code, sizeof(code));
			over = feed(&e) < 0;
		}
		CHECK(over && e.requests > 100 && e.requests <= 201 && e.open == 0);
		CHECK(sends(&e, "code 11\n"));
		end_done(&e);
	}
}

static void making_us_reset_has_the_same_limit(void)
{
	struct end e;
	uint32_t id;
	bool over = false;

	/* Each stream is opened well and then broken, so that the reset is ours. */
	server_init(&e, &server_config);
	for (id = 1; id < 2 * 1000 && !over; id += 2) {
		raw_headers(&e, id, 0, post);
		frame(&e.raw, WINDOW_UPDATE, 0, id, "\0\0\0\0", 4);
		over = feed(&e) < 0;
		free(sent(&e));
	}
	over = over || h2_over(e.h);
	CHECK(over && e.requests <= 201);
	end_done(&e);
}

static void cancelling_what_was_answered_is_fine(void)
{
	struct http_response yes = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct end e;
	uint32_t id;

	server_init(&e, &server_config);
	e.answer = &yes;
	for (id = 1; id < 2 * 3000; id += 2) {
		raw_headers(&e, id, END_STREAM, get);
		CHECK(feed(&e) == 0);
		CHECK(sends(&e, "HEADERS"));
		frame(&e.raw, RST_STREAM, 0, id, "\0\0\0\10", 4);
		CHECK(feed(&e) == 0);
	}
	CHECK(e.open == 0);
	end_done(&e);
}

static void streams_at_once_are_limited(void)
{
	struct end e;
	uint32_t id;

	server_init(&e, &server_config);
	for (id = 1; id < 2 * H2_MAX_STREAMS; id += 2)
		raw_headers(&e, id, END_STREAM, get);
	CHECK(feed(&e) == 0);
	CHECK(e.open == H2_MAX_STREAMS);
	raw_headers(&e, id, END_STREAM, get);
	(void)feed(&e);
	CHECK(e.open == H2_MAX_STREAMS);
	CHECK(sends(&e, "GOAWAY"));
	end_done(&e);
	/* Who has not seen the limit yet is told to try again. */
	end_init(&e, &server_config);
	buf_str(&e.raw, preface);
	frame(&e.raw, SETTINGS, 0, 0, NULL, 0);
	for (id = 1; id <= 2 * H2_MAX_STREAMS + 1; id += 2)
		raw_headers(&e, id, END_STREAM, get);
	CHECK(feed(&e) == 0);
	CHECK(e.open == H2_MAX_STREAMS);
	CHECK(sends(&e, "RST_STREAM 201 code 7\n"));
	end_done(&e);
}

static void a_peer_that_never_reads_is_cut_off(void)
{
	struct end e;
	uint32_t id;
	bool over = false;

	end_init(&e, &server_config);
	buf_str(&e.raw, preface);
	frame(&e.raw, SETTINGS, 0, 0, NULL, 0);
	for (id = 1; id < 100000 && !over; id += 2) {
		raw_headers(&e, id, END_STREAM, get);
		over = feed(&e) < 0;
		e.now += 100;
	}
	CHECK(over && id < 2 * 4000);
	end_done(&e);
}

static void nonsense_ends_the_connection(void)
{
	static const char *const starts[] = {"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nXXXXXXXXXXXXXXXXXXXXXX"};
	struct end e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(starts); i++) {
		end_init(&e, &server_config);
		buf_str(&e.raw, starts[i]);
		(void)feed(&e);
		free(sent(&e));
		CHECK(h2_over(e.h));
		end_done(&e);
	}
	/* Frames of a size or on a stream that they cannot have. */
	server_init(&e, &server_config);
	frame(&e.raw, DATA, 0, 0, "x", 1);
	(void)feed(&e);
	CHECK(sends(&e, "GOAWAY 0 code 1\n"));
	CHECK(h2_over(e.h));
	end_done(&e);
}

static void a_stream_that_nobody_reads_stops_its_peer(void)
{
	static const struct h2_config small = {.server = true, .tls = true, .host = {"example.com", 11}, .port = 443, .window = 65535};
	char block[16384];
	struct end e;
	int i;

	memset(block, 'x', sizeof(block));
	server_init(&e, &small);
	e.hold = e.quiet = true;
	raw_headers(&e, 1, 0, post);
	for (i = 0; i < 3; i++)
		frame(&e.raw, DATA, 0, 1, block, sizeof(block));
	CHECK(feed(&e) == 0);
	CHECK(e.got == 3 * sizeof(block));
	/* Past the window: not given to anyone. */
	frame(&e.raw, DATA, 0, 1, block, sizeof(block));
	(void)feed(&e);
	CHECK(e.got <= 65535);
	CHECK(sends(&e, "code 3\n"));
	end_done(&e);
	/* Consumed, the same is fine. */
	server_init(&e, &small);
	e.quiet = true;
	raw_headers(&e, 1, 0, post);
	CHECK(feed(&e) == 0);
	for (i = 0; i < 64; i++) {
		frame(&e.raw, DATA, 0, 1, block, sizeof(block));
		CHECK(feed(&e) == 0);
		free(sent(&e));
	}
	CHECK(e.got == 64 * sizeof(block) && e.open == 1);
	end_done(&e);
}

static void bytes_of_dead_streams_do_not_close_the_connections_window(void)
{
	static const struct h2_config small = {.server = true, .tls = true, .host = {"example.com", 11}, .port = 443, .window = 65535};
	struct http_response yes = {.status = 200, .length = HTTP_LENGTH_UNKNOWN};
	char block[16384];
	struct end e;
	uint32_t id;

	memset(block, 'x', sizeof(block));
	server_init(&e, &small);
	e.hold = e.quiet = true;
	e.answer = &yes;
	/* More in sum than all windows together. */
	for (id = 1; id < 2 * 200; id += 2) {
		raw_headers(&e, id, 0, post);
		frame(&e.raw, DATA, 0, id, block, sizeof(block));
		CHECK(feed(&e) == 0);
		CHECK(sends(&e, "last\nRST_STREAM"));
	}
	CHECK(e.got == 200 * sizeof(block) && e.open == 0);
	end_done(&e);
}

/* A client and a server of ours. */

static bool carry(struct end *from, struct end *to)
{
	char out[H2_OUTPUT_MIN];
	ssize_t n = h2_output(from->h, out, sizeof(out));

	if (n > 0)
		(void)h2_input(to->h, sv_n(out, (size_t)n), to->now);
	return n > 0;
}

static void pump(struct end *a, struct end *b)
{
	bool again = true;

	while (again) {
		again = carry(a, b);
		again = carry(b, a) || again;
	}
}

static void pair_init(struct end *client, struct end *server, bool websocket)
{
	static const struct h2_config client_config = {.tls = true};
	struct h2_config c = server_config;

	c.websocket = websocket;
	end_init(client, &client_config);
	end_init(server, &c);
	pump(client, server);
}

static struct http_request request(const char *method, bool body)
{
	return (struct http_request){.method = sv_of(method),
				     .tls = true,
				     .host = sv_of("example.com"),
				     .port = 443,
				     .target = sv_of("/pkg.Service/Call"),
				     .body = body,
				     .length = body ? HTTP_LENGTH_UNKNOWN : 0};
}

static void grpc_streams_both_ways_and_ends_with_trailers(void)
{
	struct http_field fields[] = {{sv_of("te"), sv_of("trailers")}, {sv_of("content-type"), sv_of("application/grpc")}};
	struct http_field trailer[] = {{sv_of("grpc-status"), sv_of("0")}, {sv_of("grpc-message"), sv_of("")}};
	struct http_response yes = {.status = 200, .fields = {fields + 1, 1}, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct http_fields trailers = {trailer, 2};
	struct http_request r = request("POST", true);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	r.fields = (struct http_fields){fields, 2};
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK_STR(server.log.p, "request POST https://example.com:443/pkg.Service/Call body -1 te=trailers content-type=application/grpc\n");
	CHECK(h2_respond(server.stream, &yes) == 0);
	pump(&client, &server);
	CHECK_STR(client.log.p, "response 200 body -1 content-type=application/grpc\n");
	buf_clear(&client.log);
	buf_clear(&server.log);
	CHECK(h2_offer(s, sv_of("one")) == 0);
	pump(&client, &server);
	CHECK(h2_offer(server.stream, sv_of("eins")) == 0);
	pump(&client, &server);
	CHECK(h2_offer(s, sv_of("two")) == 0 && h2_end(s, NULL) == 0);
	pump(&client, &server);
	CHECK(h2_offer(server.stream, sv_of("zwei")) == 0 && h2_end(server.stream, &trailers) == 0);
	pump(&client, &server);
	CHECK_STR(server.log.p, "data one\ndata two\nend\nclosed 0\n");
	CHECK_STR(client.log.p, "data eins\ndata zwei\nend grpc-status=0 grpc-message=\nclosed 0\n");
	CHECK(client.taken == 6 && server.taken == 8);
	end_done(&client);
	end_done(&server);
}

static void grpc_errors_are_a_head_alone(void)
{
	struct http_field fields[] = {{sv_of("content-type"), sv_of("application/grpc")}, {sv_of("grpc-status"), sv_of("12")}};
	struct http_response no = {.status = 200, .fields = {fields, 2}, .length = HTTP_LENGTH_UNKNOWN};
	struct http_request r = request("POST", true);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	server.answer = &no;
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK_STR(client.log.p, "response 200 -1 content-type=application/grpc grpc-status=12\nend\nclosed 0\n");
	end_done(&client);
	end_done(&server);
}

static void trailers_alone_follow_an_empty_body(void)
{
	struct http_field trailer[] = {{sv_of("grpc-status"), sv_of("5")}};
	struct http_response yes = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct http_fields trailers = {trailer, 1};
	struct http_request r = request("POST", false);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	server.answer = &yes;
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK(h2_end(server.stream, &trailers) == 0);
	pump(&client, &server);
	CHECK_STR(client.log.p, "response 200 body -1\nend grpc-status=5\nclosed 0\n");
	end_done(&client);
	end_done(&server);
}

static void interim_heads_come_before_the_final_one(void)
{
	struct http_field link[] = {{sv_of("link"), sv_of("</a>")}};
	struct http_response hints = {.status = 103, .fields = {link, 1}, .length = HTTP_LENGTH_UNKNOWN}, yes = {.status = 204, .length = 0},
			     go_on = {.status = 100, .length = HTTP_LENGTH_UNKNOWN};
	struct http_request r = request("PUT", true);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	r.expect_continue = true;
	r.length = 3;
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK(saw(&server, "expect 3\n"));
	CHECK(h2_respond(server.stream, &go_on) == 0 && h2_respond(server.stream, &hints) == 0);
	pump(&client, &server);
	CHECK(h2_offer(s, sv_of("abc")) == 0 && h2_end(s, NULL) == 0);
	pump(&client, &server);
	CHECK(h2_respond(server.stream, &yes) == 0);
	CHECK(h2_respond(server.stream, &yes) == -EINVAL);
	pump(&client, &server);
	CHECK_STR(client.log.p, "response 100 -1\nresponse 103 -1 link=</a>\nresponse 204 -1\nend\nclosed 0\n");
	end_done(&client);
	end_done(&server);
}

static void what_the_peer_does_not_take_stays_with_the_caller(void)
{
	enum { SIZE = 8 << 20 };
	AUTO_FREE char *body = calloc(1, SIZE);
	struct http_response yes = {.status = 200, .body = true, .length = SIZE};
	struct http_request r = request("GET", false);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	client.hold = client.quiet = true;
	server.answer = &yes;
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK(h2_offer(server.stream, sv_n(body, SIZE)) == 0 && h2_end(server.stream, NULL) == 0);
	pump(&client, &server);
	CHECK(server.taken == H2_WINDOW && client.got == H2_WINDOW);
	while (client.stream && client.got < SIZE) {
		h2_consume(client.stream, H2_WINDOW);
		pump(&client, &server);
	}
	CHECK(server.taken == SIZE && client.got == SIZE);
	CHECK(saw(&client, "end\nclosed 0\n"));
	end_done(&client);
	end_done(&server);
}

static void a_websocket_goes_through_both_sides(void)
{
	struct http_field key[] = {{sv_of("sec-websocket-key"), sv_of("x")}, {sv_of("sec-websocket-protocol"), sv_of("chat")}};
	struct http_response yes = {.status = 101, .websocket = true, .fields = {key, 2}, .length = HTTP_LENGTH_UNKNOWN};
	struct http_request r = request("GET", false);
	struct end client, server;
	struct h2_stream *s;

	r.websocket = true;
	r.fields = (struct http_fields){key, 2};
	pair_init(&client, &server, false);
	CHECK(h2_request(client.h, &r, NULL, &s) == -EOPNOTSUPP);
	end_done(&client);
	end_done(&server);
	pair_init(&client, &server, true);
	server.answer = &yes;
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK_STR(server.log.p, "request GET https://example.com:443/pkg.Service/Call websocket 0 sec-websocket-protocol=chat\n");
	CHECK_STR(client.log.p, "response 101 websocket -1 sec-websocket-protocol=chat\n");
	CHECK(h2_offer(s, sv_of("ping")) == 0 && h2_offer(server.stream, sv_of("pong")) == 0);
	pump(&client, &server);
	CHECK(saw(&client, "data pong\n") && saw(&server, "data ping\n"));
	end_done(&client);
	end_done(&server);
}

static void nothing_is_sent_that_a_message_must_not_hold(void)
{
	static const struct {
		const char *name, *value;
	} bad[] = {{":path", "/admin"}, {":authority", "evil.com"}, {"host", "evil.com"}, {"content-length", "1"}, {"transfer-encoding", "chunked"}, {"connection", "x"},
		   {"te", "gzip"}, {"Upper", "x"}, {"a", "b\r\nc: d"}, {"a", " b"}, {"", "x"}, {"proxy-authorization", "x"}, {"content_length", "1"}};
	struct http_request good = request("GET", false);
	struct end client, server;
	struct h2_stream *s = NULL;
	size_t i;

	pair_init(&client, &server, false);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct http_field f = {sv_of(bad[i].name), sv_of(bad[i].value)};
		struct http_response answer = {.status = 200, .fields = {&f, 1}, .body = true};
		struct http_request r = request("GET", false);

		r.fields = (struct http_fields){&f, 1};
		CHECK(h2_request(client.h, &r, NULL, &s) == -EINVAL);
		CHECK(h2_request(client.h, &good, NULL, &s) == 0);
		pump(&client, &server);
		CHECK(h2_respond(server.stream, &answer) == -EINVAL);
		answer.fields.n = 0;
		CHECK(h2_respond(server.stream, &answer) == 0);
		CHECK(h2_end(server.stream, &r.fields) == -EINVAL);
		h2_reset(s, H2_CANCEL);
		pump(&client, &server);
	}
	for (i = 0; i < 6; i++) {
		struct http_request r = request("GET", false);

		switch (i) {
		case 0: r.target = sv_of("x"); break;
		case 1: r.target = sv_of("/a b"); break;
		case 2: r.method = sv_of("CONNECT"); break;
		case 3: r.host = sv_of("example.com/x"); break;
		case 4: r.host = sv_of("Example.com"); break;
		default: r.port = 0; break;
		}
		CHECK(h2_request(client.h, &r, NULL, &s) == -EINVAL);
	}
	CHECK(client.open == -(int)ARRAY_LEN(bad) && server.requests == (int)ARRAY_LEN(bad));
	end_done(&client);
	end_done(&server);
}

/* How long the same head is when it is sent for the second time. */
static ssize_t length_of_second(const struct http_request *r)
{
	struct h2_nva *nva = calloc(1, sizeof(*nva));
	nghttp2_hd_deflater *d = NULL;
	uint8_t block[1024];
	ssize_t n = -1;
	int i;

	CHECK(nva && nghttp2_hd_deflate_new(&d, 4096) == 0);
	for (i = 0; d && i < 2; i++) {
		CHECK(h2_nva_request(nva, r) == 0);
		n = nghttp2_hd_deflate_hd(d, block, sizeof(block), nva->v, nva->n);
	}
	for (i = 0; i < (int)nva->n; i++)
		CHECK(!r->guarded.n || !sv_eq(r->guarded, sv_n((const char *)nva->v[i].name, nva->v[i].namelen)) || nva->v[i].flags & NGHTTP2_NV_FLAG_NO_INDEX);
	nghttp2_hd_deflate_del(d);
	free(nva);
	return n;
}

static void a_credential_is_in_no_table_whatever_its_field_is_called(void)
{
	struct http_field f = {sv_of("private-token"), sv_of("0123456789012345678901234567890123456789")};
	struct http_request r = request("GET", false);
	ssize_t indexed, guarded;

	r.fields = (struct http_fields){&f, 1};
	indexed = length_of_second(&r);
	r.guarded = f.name;
	guarded = length_of_second(&r);
	CHECK(indexed > 0 && guarded > indexed + 20);
	r.guarded = sv_of(":path");
	CHECK(length_of_second(&r) >= indexed);
}

static void a_reset_is_the_last_thing_a_stream_does(void)
{
	struct http_request r = request("POST", true);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	CHECK(h2_request(client.h, &r, &client, &s) == 0);
	CHECK(h2_stream_user(s) == &client && h2_stream_id(s) == 1);
	pump(&client, &server);
	h2_reset(s, H2_CANCEL);
	CHECK(h2_offer(s, sv_of("x")) == -EINVAL && h2_end(s, NULL) == -EINVAL);
	pump(&client, &server);
	CHECK_STR(client.log.p, "closed 8\n");
	CHECK(saw(&server, "closed 8\n"));
	/* Before it was even sent. */
	buf_clear(&client.log);
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	h2_reset(s, H2_CANCEL);
	pump(&client, &server);
	CHECK_STR(client.log.p, "closed 8\n");
	CHECK(server.requests == 1 && h2_room(client.h) == H2_MAX_STREAMS);
	end_done(&client);
	end_done(&server);
}

static void shutting_down_finishes_what_was_begun(void)
{
	struct http_response yes = {.status = 200, .length = 0};
	struct http_request r = request("GET", false);
	struct end client, server;
	struct h2_stream *s, *late;

	pair_init(&client, &server, false);
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	h2_shutdown(server.h);
	/* On its way while the news is. */
	CHECK(h2_request(client.h, &r, NULL, &late) == 0);
	pump(&client, &server);
	CHECK(h2_room(client.h) == 0 && h2_request(client.h, &r, NULL, &s) == -EAGAIN);
	CHECK(saw(&client, "goaway 1 0\n") && saw(&client, "closed 7\n"));
	CHECK(server.requests == 1 && !h2_over(server.h));
	CHECK(h2_respond(server.stream, &yes) == 0);
	pump(&client, &server);
	CHECK(saw(&client, "response 200 0\nend\nclosed 0\n"));
	CHECK(h2_over(server.h) && h2_over(client.h));
	end_done(&client);
	end_done(&server);
}

static void a_client_opens_no_more_than_there_is_room(void)
{
	struct http_request r = request("GET", false);
	struct end client, server;
	struct h2_stream *s;
	int i;

	pair_init(&client, &server, false);
	for (i = 0; i < H2_MAX_STREAMS; i++)
		CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	CHECK(h2_request(client.h, &r, NULL, &s) == -EAGAIN);
	pump(&client, &server);
	CHECK(server.open == H2_MAX_STREAMS && h2_room(client.h) == 0);
	end_done(&client);
	CHECK(client.open == -H2_MAX_STREAMS);
	end_done(&server);
	CHECK(server.open == 0);
}

/* A client of ours with one request under way, and a raw server. */
static void client_init(struct end *e)
{
	static const struct h2_config client_config = {.tls = true};
	struct http_request r = request("GET", false);
	struct h2_stream *s;

	end_init(e, &client_config);
	frame(&e->raw, SETTINGS, 0, 0, NULL, 0);
	CHECK(feed(e) == 0);
	CHECK(h2_request(e->h, &r, NULL, &s) == 0);
	free(sent(e));
}

static const struct bad_head bad_responses[] = {
	{"no status", 0, {"a", "b"}},
	{"status twice", 0, {":status", "200", ":status", "200"}},
	{"status after a field", 0, {"a", "b", ":status", "200"}},
	{"status of four digits", 0, {":status", "2000"}},
	{"status of letters", 0, {":status", "2x0"}},
	{"status 999", 502, {":status", "999"}},
	{"status 101", 0, {":status", "101"}},
	{"path in a response", 0, {":status", "200", ":path", "/"}},
	{"connection", 0, {":status", "200", "connection", "close"}},
	{"transfer-encoding", 0, {":status", "200", "transfer-encoding", "chunked"}},
	{"upper case", 0, {":status", "200", "Set-Cookie", "x"}},
	{"line feed", 502, {":status", "200", "a", "b\nc"}},
	{"length that is no number", 0, {":status", "200", "content-length", "x"}},
	{"interim with a length", 0, {":status", "100", "content-length", "5"}},
};

static void no_malformed_head_becomes_a_response(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad_responses); i++) {
		int before = check_failures;
		struct end e;

		client_init(&e);
		raw_headers(&e, 1, 0, bad_responses[i].fields);
		CHECK(feed(&e) == 0);
		CHECK(!saw(&e, "response") && saw(&e, "refused"));
		CHECK(e.refused_status == bad_responses[i].status);
		CHECK(sends(&e, "RST_STREAM 1 code 1\n") && saw(&e, "closed 1\n"));
		if (check_failures != before)
			printf("# %s: %s", bad_responses[i].promise, e.log.p ? e.log.p : "nothing\n");
		end_done(&e);
	}
}

static void blanks_around_a_servers_values_are_cut_off(void)
{
	struct end e;

	client_init(&e);
	raw_headers(&e, 1, END_STREAM, (const char *const[]){":status", "200", "a", " b c\t", NULL});
	CHECK(feed(&e) == 0);
	CHECK_STR(e.log.p, "response 200 -1 a=b c\nend\nclosed 0\n");
	end_done(&e);
}

static void a_push_reaches_nobody(void)
{
	AUTO_BUF block = {0};
	struct end e;
	size_t i;

	client_init(&e);
	buf_init(&block, 4096);
	buf_add(&block, "\0\0\0\2", 4);
	for (i = 0; get[i]; i += 2)
		hpack(&block, sv_of(get[i]), sv_of(get[i + 1]));
	frame(&e.raw, PUSH_PROMISE, END_HEADERS, 1, block.p, block.n);
	raw_headers(&e, 2, END_STREAM, (const char *const[]){":status", "200", NULL});
	(void)feed(&e);
	CHECK(sends(&e, "RST_STREAM 2 code 8\n") && !saw(&e, "re"));
	end_done(&e);
}

static void interim_heads_without_end_are_a_flood(void)
{
	struct end e;

	client_init(&e);
	raw_headers(&e, 1, 0, (const char *const[]){":status", "103", NULL});
	CHECK(ends_after(&e, 1100));
	CHECK(sends(&e, "code 11\n"));
	end_done(&e);
}

static void a_response_to_head_has_a_length_and_no_body(void)
{
	struct http_response yes = {.status = 200, .length = 1234};
	struct http_request r = request("HEAD", false);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	server.answer = &yes;
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK_STR(client.log.p, "response 200 1234\nend\nclosed 0\n");
	end_done(&client);
	end_done(&server);
}

static void a_response_shorter_than_its_length_never_ends(void)
{
	struct end e;

	client_init(&e);
	raw_headers(&e, 1, 0, (const char *const[]){":status", "200", "content-length", "5", NULL});
	frame(&e.raw, DATA, END_STREAM, 1, "123", 3);
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "end") && sends(&e, "RST_STREAM 1 code 1\n") && saw(&e, "closed 1\n"));
	end_done(&e);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_request_arrives_whole),
		CASE(splitting_input_makes_no_difference),
		CASE(no_malformed_head_becomes_a_request),
		CASE(a_nul_is_in_no_field),
		CASE(a_refusal_can_be_answered),
		CASE(any_authority_passes_where_none_is_expected),
		CASE(a_body_that_differs_from_its_length_never_ends),
		CASE(trailers_are_fields_only),
		CASE(websocket_is_a_get_where_it_is_offered),
		CASE(heads_have_limits),
		CASE(one_byte_for_a_large_field_gains_nothing),
		CASE(a_long_target_is_refused),
		CASE(continuations_do_not_go_on_for_ever),
		CASE(floods_of_frames_that_carry_nothing_end_the_connection),
		CASE(a_slow_ping_is_no_flood),
		CASE(resetting_what_was_not_answered_has_a_limit),
		CASE(making_us_reset_has_the_same_limit),
		CASE(cancelling_what_was_answered_is_fine),
		CASE(streams_at_once_are_limited),
		CASE(a_peer_that_never_reads_is_cut_off),
		CASE(nonsense_ends_the_connection),
		CASE(a_stream_that_nobody_reads_stops_its_peer),
		CASE(bytes_of_dead_streams_do_not_close_the_connections_window),
		CASE(grpc_streams_both_ways_and_ends_with_trailers),
		CASE(grpc_errors_are_a_head_alone),
		CASE(trailers_alone_follow_an_empty_body),
		CASE(interim_heads_come_before_the_final_one),
		CASE(what_the_peer_does_not_take_stays_with_the_caller),
		CASE(a_websocket_goes_through_both_sides),
		CASE(nothing_is_sent_that_a_message_must_not_hold),
		CASE(a_credential_is_in_no_table_whatever_its_field_is_called),
		CASE(a_reset_is_the_last_thing_a_stream_does),
		CASE(shutting_down_finishes_what_was_begun),
		CASE(a_client_opens_no_more_than_there_is_room),
		CASE(no_malformed_head_becomes_a_response),
		CASE(blanks_around_a_servers_values_are_cut_off),
		CASE(a_push_reaches_nobody),
		CASE(interim_heads_without_end_are_a_flood),
		CASE(a_response_to_head_has_a_length_and_no_body),
		CASE(a_response_shorter_than_its_length_never_ends),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
