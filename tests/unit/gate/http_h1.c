#include "check.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "http/h1.h"
#include "http/target.h"

#define CORPUS TESTS_DIR "/gate/corpus/smuggling"

static const struct h1_context proxy = {.proxy = true};
static const struct h1_context origin = {0};

static struct h1_context tls_context(void)
{
	return (struct h1_context){.tls = true, .host = sv_of("a.example"), .port = 443};
}

/* Reads up to the first event that is not H1_DATA, from text alone. */
static enum h1_event head_of(struct h1 *h, const char *text, struct sv *rest)
{
	struct sv data;

	*rest = sv_of(text);
	return h1_read(h, rest, &data);
}

static bool has(const struct http_fields *f, const char *name, const char *value)
{
	const struct sv *v = http_field(f, name);

	return v && sv_is(*v, value);
}

/* -- the corpus -- */

struct replay {
	struct h1 *h;
	struct h1_recent *recent;
	struct h1_asked asked;
	char verdict[32];
};

static void replay_open(struct replay *r, const char *context)
{
	struct h1_context tls = tls_context();

	r->asked = (struct h1_asked){.head = strcmp(context, "response-head") == 0,
				     .connect = strcmp(context, "response-connect") == 0,
				     .websocket = strcmp(context, "response-websocket") == 0};
	if (strncmp(context, "response", 8) == 0)
		r->h = h1_new_response(NULL);
	else
		r->h = h1_new_request(strcmp(context, "proxy") == 0 ? &proxy
				      : strcmp(context, "tls") == 0 ? &tls
								    : &origin,
				      NULL);
	h1_expect(r->h, r->asked);
	h1_remember(r->h, r->recent);
}

static bool is_tunnel(const struct replay *r)
{
	const struct http_request *q = h1_request(r->h);
	const struct http_response *s = h1_response(r->h);

	return sv_is(q->method, "CONNECT") || q->websocket || s->websocket || (r->asked.connect && s->status == 200);
}

/* What a connection that brings these bytes, at most step at once, and is closed then comes to. */
static const char *verdict(struct replay *r, struct sv in, size_t step)
{
	struct sv piece, data;
	enum h1_event e;
	size_t given;
	int whole = 0;

	for (;;) {
		given = in.n < step ? in.n : step;
		piece = sv_n(in.p, given);
		e = h1_read(r->h, &piece, &data);
		in = sv_n(in.p + (given - piece.n), in.n - (given - piece.n));
		if (e == H1_ERROR)
			(void)snprintf(r->verdict, sizeof(r->verdict), "%u:%d", (unsigned)h1_fault(r->h).status, whole);
		else if (e == H1_END && is_tunnel(r))
			(void)snprintf(r->verdict, sizeof(r->verdict), "tunnel:%d", whole);
		else if (e == H1_MORE && in.n == 0) {
			e = h1_eof(r->h);
			(void)snprintf(r->verdict, sizeof(r->verdict), "%s:%d",
				       e == H1_MORE  ? "ok"
				       : e == H1_END ? "close"
						     : "more",
				       whole);
			e = H1_ERROR;
		}
		if (e == H1_ERROR || (e == H1_END && is_tunnel(r)))
			return r->verdict;
		if (e == H1_END) {
			whole++;
			h1_next(r->h);
			h1_expect(r->h, r->asked);
		}
	}
}

/* The second time it is read from memory. */
static void replay_case(const char *name, const char *context, const char *want, struct h1_recent *recent)
{
	static const size_t steps[] = {SIZE_MAX, SIZE_MAX, 1, 7};
	AUTO_BUF bytes = {0};
	struct replay r = {.recent = recent};
	char path[4096];
	size_t i;

	buf_init(&bytes, 1 << 20);
	(void)snprintf(path, sizeof(path), "%s/%s", CORPUS, name);
	CHECK(buf_read_file(&bytes, path) == 0);
	for (i = 0; i < ARRAY_LEN(steps); i++) {
		replay_open(&r, context);
		if (strcmp(verdict(&r, buf_view(&bytes), steps[i]), want) != 0) {
			printf("# %s: %s\n", name, h1_fault(r.h).reason ? h1_fault(r.h).reason : "no fault");
			CHECK_STR(r.verdict, want);
		}
		h1_free(r.h);
	}
}

static void every_case_of_the_smuggling_corpus_gets_its_verdict(void)
{
	AUTO_BUF index = {0};
	struct h1_recent *recent = h1_recent_new();
	char name[128], context[64], want[32], *line, *save = NULL;
	int n = 0;

	buf_init(&index, 1 << 20);
	CHECK(buf_read_file(&index, CORPUS "/INDEX") == 0);
	for (line = index.p ? strtok_r(index.p, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '#')
			continue;
		CHECK(sscanf(line, "%127s %63s %31s", name, context, want) == 3);
		replay_case(name, context, want, recent);
		n++;
	}
	CHECK(n > 200);
	h1_recent_free(recent);
}

/* -- requests -- */

static void a_proxied_request_is_told_in_full(void)
{
	struct h1 *h = h1_new_request(&proxy, NULL);
	const struct http_request *r = h1_request(h);
	struct sv rest, data;

	CHECK(head_of(h,
		      "POST HTTP://A.Example.:8080/a%2eb/%7E?q=%2f HTTP/1.1\r\nHost: "
		      "a.example:8080\r\nProxy-Authorization: Basic x\r\nAccept: \t*/* \r\n"
		      "Connection: keep-alive, X-Drop\r\nX-Drop: 1\r\nKeep-Alive: 5\r\nContent-Length: 3\r\nTE: "
		      "gzip\r\nTrailer: x\r\n\r\nabcGET",
		      &rest) == H1_HEAD);
	CHECK(sv_is(r->method, "POST") && !r->tls && sv_is(r->host, "a.example") && r->port == 8080);
	CHECK(sv_is(r->target, "/a.b/~?q=%2F") && !r->ambiguous_path);
	CHECK(r->fields.n == 1 && has(&r->fields, "accept", "*/*"));
	CHECK(r->body && r->length == 3 && !r->websocket && !r->expect_continue);
	CHECK(h1_read(h, &rest, &data) == H1_DATA && sv_is(data, "abc"));
	CHECK(h1_read(h, &rest, &data) == H1_END && h1_keeps(h));
	CHECK(sv_is(rest, "GET") && h1_trailers(h)->n == 0);
	h1_free(h);
}

static void connect_of_an_old_client_needs_no_host(void)
{
	struct h1 *h = h1_new_request(&proxy, NULL);
	const struct http_request *r = h1_request(h);
	struct sv rest, data;

	CHECK(head_of(h, "CONNECT A.example:443 HTTP/1.0\r\n\r\n\x16\x03", &rest) == H1_HEAD);
	CHECK(sv_is(r->method, "CONNECT") && sv_is(r->host, "a.example") && r->port == 443 && r->target.n == 0 &&
	      !r->body);
	CHECK(h1_is_http10(h) && !h1_keeps(h));
	CHECK(h1_read(h, &rest, &data) == H1_END && rest.n == 2);
	h1_free(h);
}

static void the_connection_says_where_a_path_belongs(void)
{
	struct h1_context tls = tls_context(), any = {.port = 8000},
			  odd = {.tls = true, .host = sv_of("a.example"), .port = 8443};
	struct {
		const struct h1_context *context;
		const char *host;
		uint16_t port;
	} cases[] = {{&tls, "a.example", 443},
		     {&any, "127.0.0.1:8000", 8000},
		     {&odd, "a.example", 8443},
		     {&origin, "a.example", 80},
		     {&origin, "[::1]:81", 81}};
	char text[200];
	struct sv rest;
	struct h1 *h;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		h = h1_new_request(cases[i].context, NULL);
		(void)snprintf(text, sizeof(text), "GET /@a%%2fb HTTP/1.1\r\nHost: %s\r\n\r\n", cases[i].host);
		CHECK(head_of(h, text, &rest) == H1_HEAD);
		CHECK(h1_request(h)->port == cases[i].port && h1_request(h)->tls == cases[i].context->tls);
		CHECK(sv_is(h1_request(h)->target, "/@a%2Fb") && h1_request(h)->ambiguous_path);
		h1_free(h);
	}
}

static void a_chunked_body_comes_as_views_without_its_framing(void)
{
	struct h1 *h = h1_new_request(&origin, NULL);
	struct sv rest, data;

	CHECK(head_of(h,
		      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\nExpect: "
		      "100-continue\r\n\r\n"
		      "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum:  1 \r\n\r\nrest",
		      &rest) == H1_HEAD);
	CHECK(h1_request(h)->body && h1_request(h)->length == HTTP_LENGTH_UNKNOWN && h1_request(h)->expect_continue);
	CHECK(h1_request(h)->fields.n == 1 && has(&h1_request(h)->fields, "te", "trailers"));
	CHECK(h1_read(h, &rest, &data) == H1_DATA && sv_is(data, "abc"));
	CHECK(data.p + 3 == rest.p);
	CHECK(h1_read(h, &rest, &data) == H1_DATA && sv_is(data, "de"));
	CHECK(h1_read(h, &rest, &data) == H1_END && sv_is(rest, "rest"));
	CHECK(h1_trailers(h)->n == 1 && has(h1_trailers(h), "x-sum", "1"));
	h1_free(h);
}

static void websocket_is_the_one_upgrade(void)
{
	struct h1 *h = h1_new_request(&origin, NULL);
	struct sv rest, data;

	CHECK(head_of(h,
		      "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: "
		      "k\r\n\r\nxy",
		      &rest) == H1_HEAD);
	CHECK(h1_request(h)->websocket && h1_request(h)->fields.n == 1 && !h1_keeps(h));
	CHECK(h1_read(h, &rest, &data) == H1_END && sv_is(rest, "xy"));
	h1_free(h);
}

/* Java's client offers it with each request to a model's port. */
static void an_offer_of_http2_is_left_alone_where_we_are_the_server(void)
{
	static const struct h1_context server = {.server = true};
	static const struct {
		const struct h1_context *context;
		const char *fields;
		enum h1_event want;
	} cases[] = {
		{&server, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n",
		 H1_HEAD},
		{&origin, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n",
		 H1_ERROR},
		{&server, "Upgrade: h2c\r\n", H1_ERROR},
		{&server, "Connection: Upgrade\r\nUpgrade: h2c, other\r\n", H1_ERROR},
		{&server, "Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n", H1_ERROR},
		{&server, "Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n", H1_ERROR},
	};
	char text[256];
	struct sv rest, data;
	struct h1 *h;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		h = h1_new_request(cases[i].context, NULL);
		(void)snprintf(text, sizeof(text), "POST /v1 HTTP/1.1\r\nHost: a\r\n%sContent-Length: 2\r\n\r\nxyGET",
			       cases[i].fields);
		CHECK(head_of(h, text, &rest) == cases[i].want);
		if (cases[i].want == H1_HEAD) {
			CHECK(!h1_request(h)->websocket && h1_request(h)->fields.n == 0 && h1_request(h)->length == 2 &&
			      h1_keeps(h));
			CHECK(h1_read(h, &rest, &data) == H1_DATA && sv_is(data, "xy"));
			CHECK(h1_read(h, &rest, &data) == H1_END && sv_is(rest, "GET"));
		}
		h1_free(h);
	}
}

static void a_body_larger_than_its_limit_is_refused(void)
{
	static const char *const cases[] = {
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
		"chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n",
	};
	struct h1_limits limits = {.head = 1000, .target = 100, .fields = 10, .body = 10};
	enum h1_event e;
	struct sv in, data;
	struct h1 *h;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		h = h1_new_request(&origin, &limits);
		in = sv_of(cases[i]);
		do
			e = h1_read(h, &in, &data);
		while (e == H1_HEAD || e == H1_DATA);
		CHECK(e == H1_ERROR && h1_fault(h).status == 413);
		/* And it stays so. */
		h1_next(h);
		CHECK(h1_read(h, &in, &data) == H1_ERROR && h1_eof(h) == H1_ERROR);
		h1_free(h);
	}
}

static void limits_hold_to_the_byte(void)
{
	const char *text = "GET /345678 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
	struct h1_limits exact = {.head = (uint32_t)strlen(text), .target = 7, .fields = 2}, l;
	struct sv rest;
	struct h1 *h;
	int i;

	for (i = 0; i < 4; i++) {
		l = exact;
		l.head -= i == 1;
		l.target -= i == 2;
		l.fields -= i == 3;
		h = h1_new_request(&origin, &l);
		CHECK(head_of(h, text, &rest) == (i ? H1_ERROR : H1_HEAD));
		CHECK(!i || h1_fault(h).status == (i == 2 ? 414 : 431));
		h1_free(h);
	}
}

static void a_connection_option_takes_its_fields_along(void)
{
	struct h1 *h = h1_new_request(&origin, NULL);
	struct sv rest;

	CHECK(head_of(h,
		      "GET / HTTP/1.1\r\nX-A: 1\r\nHost: a\r\nConnection: x-A , close\r\nX-B: 2\r\nConnection: "
		      ",X-C\r\nx-c: 3\r\n\r\n",
		      &rest) == H1_HEAD);
	CHECK(h1_request(h)->fields.n == 1 && has(&h1_request(h)->fields, "x-b", "2") && !h1_keeps(h));
	h1_free(h);
}

/* -- responses -- */

static void an_answer_may_have_as_many_cookies_as_a_browser_takes(void)
{
	struct h1 *h = h1_new_response(NULL);
	AUTO_BUF text = {0};
	struct sv rest;
	unsigned i;

	buf_init(&text, 64 * 1024);
	for (i = 0; i < 200; i++) /* who waits is told so every few seconds */
		(void)buf_str(&text, "HTTP/1.1 102 Processing\r\n\r\n");
	(void)buf_str(&text, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n");
	for (i = 0; i < 200; i++)
		(void)buf_printf(&text, "Set-Cookie: c%u=v\r\n", i);
	(void)buf_str(&text, "\r\n");
	CHECK(head_of(h, text.p, &rest) == H1_HEAD && h1_response(h)->status == 102);
	for (i = 0; i < 200; i++) {
		struct sv data;

		CHECK(h1_read(h, &rest, &data) == H1_HEAD);
	}
	CHECK(h1_response(h)->status == 200 && h1_response(h)->fields.n == 200);
	h1_free(h);
}

static void interim_responses_come_before_the_one_that_counts(void)
{
	struct h1 *h = h1_new_response(NULL);
	const struct http_response *r = h1_response(h);
	struct sv rest, data;

	CHECK(h1_idle(h));
	CHECK(head_of(h,
		      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 Fine by me\r\nContent-Length: "
		      "2\r\nHost: x\r\n\r\nok",
		      &rest) == H1_HEAD);
	CHECK(r->status == 103 && has(&r->fields, "link", "x") && !r->body);
	CHECK(h1_read(h, &rest, &data) == H1_HEAD);
	CHECK(r->status == 200 && sv_is(r->reason, "Fine by me") && r->body && r->length == 2 && r->fields.n == 0);
	CHECK(h1_read(h, &rest, &data) == H1_DATA && h1_read(h, &rest, &data) == H1_END && h1_keeps(h));
	h1_free(h);
}

static void a_response_to_head_has_a_length_and_no_body(void)
{
	struct h1 *h = h1_new_response(NULL);
	struct sv rest, data;

	h1_expect(h, (struct h1_asked){.head = true});
	CHECK(head_of(h, "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", &rest) == H1_HEAD);
	CHECK(!h1_response(h)->body && h1_response(h)->length == 1234);
	CHECK(h1_read(h, &rest, &data) == H1_END && h1_keeps(h));
	h1_next(h);
	CHECK(h1_idle(h));
	h1_free(h);
}

static void the_end_of_the_connection_ends_only_what_it_may(void)
{
	struct h1 *h = h1_new_response(NULL);
	struct sv rest, data;

	CHECK(h1_eof(h) == H1_MORE);
	CHECK(head_of(h, "HTTP/1.0 200 OK\r\n\r\nall", &rest) == H1_HEAD && h1_response(h)->body &&
	      h1_response(h)->length == HTTP_LENGTH_UNKNOWN);
	CHECK(h1_read(h, &rest, &data) == H1_DATA && sv_is(data, "all") && !h1_keeps(h));
	CHECK(h1_eof(h) == H1_END);
	h1_free(h);
	h = h1_new_response(NULL);
	CHECK(head_of(h, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nall", &rest) == H1_HEAD &&
	      h1_read(h, &rest, &data) == H1_DATA);
	CHECK(h1_eof(h) == H1_ERROR && h1_fault(h).status == 502);
	h1_free(h);
}

/* -- heads that came before -- */

static struct h1 *reader_with(const struct h1_context *context, struct h1_recent *recent)
{
	struct h1 *h = h1_new_request(context, NULL);

	h1_remember(h, recent);
	return h;
}

static void a_head_that_came_before_means_the_same_again(void)
{
	static const char text[] = "POST /A%2fb?q=%7E HTTP/1.1\r\nHost: A.example\r\nX-One:  1 \r\nContent-Length: "
				   "2\r\nX-Two:\r\nExpect: 100-continue\r\n\r\nokGET";
	struct h1_recent *recent = h1_recent_new();
	const struct http_request *r;
	struct sv rest, data;
	struct h1 *h;
	int i;

	for (i = 0; i < 3; i++) {
		h = reader_with(&origin, recent);
		r = h1_request(h);
		CHECK(head_of(h, text, &rest) == H1_HEAD);
		CHECK(sv_is(r->method, "POST") && sv_is(r->target, "/A%2Fb?q=~") && r->ambiguous_path &&
		      sv_is(r->host, "a.example") && r->port == 80 && !r->tls);
		CHECK(r->fields.n == 2 && has(&r->fields, "x-one", "1") && has(&r->fields, "x-two", ""));
		CHECK(r->body && r->length == 2 && r->expect_continue && !r->websocket);
		CHECK(h1_read(h, &rest, &data) == H1_DATA && sv_is(data, "ok") && h1_read(h, &rest, &data) == H1_END &&
		      sv_is(rest, "GET") && h1_keeps(h));
		/* it is the reader's own: what is done to it is done to no other */
		r->fields.v[0].name = sv_of("changed");
		h1_free(h);
	}
	h1_recent_free(recent);
}

static void the_same_bytes_elsewhere_are_another_head(void)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
	struct h1_context named = {.host = sv_of("a.example")}, other = {.host = sv_of("b.example")},
			  tls = {.tls = true}, port = {.port = 8080};
	const struct h1_limits small = {.head = 1000, .target = 100, .fields = 1},
			       smaller = {.head = 1000, .target = 100};
	const struct {
		const struct h1_context *context;
		const struct h1_limits *limits;
		enum h1_event want;
		uint16_t port;
	} cases[] = {{&origin, NULL, H1_HEAD, 80},   {&named, NULL, H1_HEAD, 80},     {&other, NULL, H1_ERROR, 0},
		     {&tls, NULL, H1_HEAD, 443},     {&port, NULL, H1_HEAD, 8080},    {&proxy, NULL, H1_ERROR, 0},
		     {&origin, &small, H1_HEAD, 80}, {&origin, &smaller, H1_ERROR, 0}};
	struct h1_recent *recent = h1_recent_new();
	struct sv rest;
	struct h1 *h;
	size_t i;

	for (i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		h = h1_new_request(cases[i / 2].context, cases[i / 2].limits);
		h1_remember(h, recent);
		CHECK(head_of(h, text, &rest) == cases[i / 2].want);
		CHECK(cases[i / 2].want == H1_ERROR ||
		      (h1_request(h)->port == cases[i / 2].port && h1_request(h)->tls == cases[i / 2].context->tls));
		h1_free(h);
	}
	h1_recent_free(recent);
}

static void what_was_asked_counts_as_much_as_the_answer(void)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	struct h1_recent *recent = h1_recent_new();
	struct h1 *h = h1_new_response(NULL);
	struct sv rest, data;
	int i;

	h1_remember(h, recent);
	for (i = 0; i < 6; i++) {
		h1_expect(h, (struct h1_asked){.head = i % 2});
		CHECK(head_of(h, text, &rest) == H1_HEAD && h1_response(h)->status == 200 &&
		      sv_is(h1_response(h)->reason, "OK"));
		CHECK(h1_response(h)->body == !(i % 2) && h1_response(h)->length == 2);
		CHECK(i % 2 || h1_read(h, &rest, &data) == H1_DATA);
		CHECK(h1_read(h, &rest, &data) == H1_END);
		h1_next(h);
	}
	h1_free(h);
	h1_recent_free(recent);
}

/* More heads than are kept, and one that is too long to be: the last ones, the first ones and those between are read
 * alike. */
static void many_heads_take_turns(void)
{
	struct h1_recent *recent = h1_recent_new();
	struct h1 *h = reader_with(&origin, recent);
	char text[2200], filler[2000], want[32];
	struct sv rest, data;
	int i;

	memset(filler, 'f', sizeof(filler) - 1);
	filler[sizeof(filler) - 1] = '\0';
	for (i = 0; i < 100; i++) {
		(void)snprintf(want, sizeof(want), "/%d", i % 2 ? i % 30 : i % 3);
		(void)snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n", want,
			       i % 7 ? "" : filler);
		CHECK(head_of(h, text, &rest) == H1_HEAD && sv_is(h1_request(h)->target, want) &&
		      has(&h1_request(h)->fields, "x", i % 7 ? "" : filler));
		CHECK(h1_read(h, &rest, &data) == H1_END && rest.n == 0);
		h1_next(h);
	}
	h1_free(h);
	h1_recent_free(recent);
}

static size_t given_piece(struct h1 *h, struct sv piece, enum h1_event *e)
{
	struct sv data;

	*e = h1_read(h, &piece, &data);
	return h1_held(h);
}

/* The head moves while it grows; a target whose canonical form is longer has a place of its own. The same head with
 * another target of that size holds less by just that. */
static void held_amid_head(const char *target, size_t step)
{
	size_t n = strlen(target), grown = n + http_target_growth(sv_n(target, n)), at, k, held, plain;
	enum h1_event e = H1_MORE, plain_e = H1_MORE;
	struct h1 *h = h1_new_request(&origin, NULL), *other = h1_new_request(&origin, NULL);
	char head[2][10000], pad[3001];

	memset(pad, 'x', sizeof(pad) - 1);
	pad[sizeof(pad) - 1] = '\0';
	(void)snprintf(head[0], sizeof(head[0]),
		       "GET %s HTTP/1.1\r\nHost: a.example\r\nA: %s\r\nB: %s\r\nC: %s\r\n\r\n", target, pad, pad, pad);
	memcpy(head[1], head[0], sizeof(head[0]));
	memset(head[1] + strlen("GET /"), 'x', n - 1);
	for (at = 0; head[0][at] && e == H1_MORE; at += k) {
		k = strnlen(head[0] + at, step);
		held = given_piece(h, sv_n(head[0] + at, k), &e);
		plain = given_piece(other, sv_n(head[1] + at, k), &plain_e);
		CHECK(held == plain || (held == plain + grown && grown > n));
		CHECK((held > plain) == (grown > n && memchr(head[0], '\n', at + k)));
	}
	CHECK(e == H1_HEAD && plain_e == H1_HEAD && !head[0][at]);
	CHECK(h1_request(h)->target.n == grown);
	h1_free(h);
	h1_free(other);
}

static void what_a_head_holds_is_known_while_it_comes(void)
{
	static const char *const targets[] = {"/a", "/[", "/{id}|\"", "/?q=%", "/^?a=%&b=100%"};
	static const size_t steps[] = {1, 7, 40, 1000, 3000, SIZE_MAX};
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(targets); i++)
		for (k = 0; k < ARRAY_LEN(steps); k++)
			held_amid_head(targets[i], steps[k]);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_case_of_the_smuggling_corpus_gets_its_verdict),
		CASE(a_proxied_request_is_told_in_full),
		CASE(connect_of_an_old_client_needs_no_host),
		CASE(the_connection_says_where_a_path_belongs),
		CASE(a_chunked_body_comes_as_views_without_its_framing),
		CASE(websocket_is_the_one_upgrade),
		CASE(an_offer_of_http2_is_left_alone_where_we_are_the_server),
		CASE(a_body_larger_than_its_limit_is_refused),
		CASE(limits_hold_to_the_byte),
		CASE(a_connection_option_takes_its_fields_along),
		CASE(an_answer_may_have_as_many_cookies_as_a_browser_takes),
		CASE(interim_responses_come_before_the_one_that_counts),
		CASE(a_response_to_head_has_a_length_and_no_body),
		CASE(the_end_of_the_connection_ends_only_what_it_may),
		CASE(a_head_that_came_before_means_the_same_again),
		CASE(the_same_bytes_elsewhere_are_another_head),
		CASE(what_was_asked_counts_as_much_as_the_answer),
		CASE(many_heads_take_turns),
		CASE(what_a_head_holds_is_known_while_it_comes),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
