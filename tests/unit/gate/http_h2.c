/* Requests of a raw peer: what is malformed becomes none. */
#include "http_h2_rig.h"

static void a_request_arrives_whole(void)
{
	static const char *const fields[] = {":method",
					     "POST",
					     ":scheme",
					     "https",
					     ":path",
					     "/a%2db?x=%41",
					     ":authority",
					     "EXAMPLE.com.:443",
					     "te",
					     "trailers",
					     "content-length",
					     "5",
					     "host",
					     "example.com",
					     "expect",
					     "100-continue",
					     "cookie",
					     "a=1",
					     "x-y",
					     "z",
					     "cookie",
					     "b=2",
					     "trailer",
					     "x",
					     "proxy-authorization",
					     "secret",
					     "user-agent",
					     "",
					     NULL};
	static const char *const trailers[] = {"x-sum", "1", "authorization", "late", NULL};
	static const char *const want = "request POST https://example.com:443/a-b?x=A body expect 5 te=trailers "
					"cookie=a=1; b=2 x-y=z user-agent=\n"
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
	{"pseudo-header after a field",
	 0,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", "a", "b", ":path", "/"}},
	{"unknown pseudo-header", 0, {GET, ":x", "y"}},
	{"status in a request", 0, {GET, ":status", "200"}},
	{"pseudo-header in upper case",
	 0,
	 {":METHOD", "GET", ":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
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
	{"underscores for hyphens in content-length", 400, {POST, "content_length", "5"}},
	{"dots for hyphens in content-length", 400, {POST, "content.length", "5"}},
	{"another sign for the hyphen in transfer-encoding", 400, {POST, "transfer~encoding", "chunked"}},
	{"underscores for hyphens in transfer-encoding", 400, {POST, "transfer_encoding", "chunked"}},
	{"host disagrees", 400, {GET, "host", "evil.com"}},
	{"host disagrees in its port", 400, {GET, "host", "example.com:80"}},
	{"host is malformed", 400, {GET, "host", "example.com,evil.com"}},
	{"host twice", 0, {GET, "host", "example.com", "host", "example.com"}},
	{"empty host beside authority", 0, {GET, "host", ""}},
	{"authority of another host",
	 421,
	 {":method", "GET", ":scheme", "https", ":authority", "evil.com", ":path", "/"}},
	{"host alone, of another host", 421, {":method", "GET", ":scheme", "https", ":path", "/", "host", "evil.com"}},
	{"authority of another port",
	 421,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com:8443", ":path", "/"}},
	{"authority below the host",
	 421,
	 {":method", "GET", ":scheme", "https", ":authority", "a.example.com", ":path", "/"}},
	{"authority with a user",
	 400,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com@evil.com", ":path", "/"}},
	{"authority with a path",
	 0,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com/x", ":path", "/"}},
	{"empty authority", 0, {":method", "GET", ":scheme", "https", ":authority", "", ":path", "/"}},
	{"scheme of another connection",
	 400,
	 {":method", "GET", ":scheme", "http", ":authority", "example.com", ":path", "/"}},
	{"scheme in upper case",
	 400,
	 {":method", "GET", ":scheme", "HTTPS", ":authority", "example.com", ":path", "/"}},
	{"scheme unknown", 400, {":method", "GET", ":scheme", "file", ":authority", "example.com", ":path", "/"}},
	{"path empty", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", ""}},
	{"path without a slash", 0, {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "x"}},
	{"path that is a URL",
	 0,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "https://evil.com/"}},
	{"path * without OPTIONS",
	 0,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "*"}},
	{"path with a fragment",
	 400,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a#b"}},
	{"path with a blank",
	 0,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a HTTP/1.1"}},
	{"path with a line feed",
	 0,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/\nx"}},
	{"path with dot segments",
	 400,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a/../b"}},
	{"path with encoded dots",
	 400,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/a/%2e%2E/b"}},
	{"path with an encoded NUL",
	 400,
	 {":method", "GET", ":scheme", "https", ":authority", "example.com", ":path", "/%00"}},
	{"method with a blank", 0, {":method", "GET /", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"method empty", 0, {":method", "", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"TRACE", 405, {":method", "TRACE", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"CONNECT", 0, {":method", "CONNECT", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"plain CONNECT", 405, {":method", "CONNECT", ":authority", "example.com:443"}},
	{"extended CONNECT that was not offered",
	 0,
	 {":method", "CONNECT", ":protocol", "websocket", ":scheme", "https", ":authority", "example.com", ":path",
	  "/"}},
	{"content-length that is no number", 0, {GET, "content-length", "5a"}},
	{"content-length with a sign", 0, {GET, "content-length", "+5"}},
	{"content-length below zero", 0, {GET, "content-length", "-1"}},
	{"content-length as a list", 0, {GET, "content-length", "5, 5"}},
	{"content-length too large for a number", 0, {GET, "content-length", "18446744073709551621"}},
	{"content-length large", 400, {GET, "content-length", "1000000000000000000"}},
	{"content-length twice", 0, {GET, "content-length", "5", "content-length", "5"}},
	{"a body with GET", 400, {GET}},
	{"a body with HEAD", 400, {":method", "HEAD", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"a body with OPTIONS",
	 400,
	 {":method", "OPTIONS", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
	{"a body with get", 501, {":method", "get", ":scheme", "https", ":authority", "example.com", ":path", "/"}},
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
	static const char *const wrong[] = {":method",  "GET",   ":scheme", "https", ":authority",
					    "evil.com", ":path", "/",       NULL};
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
	static const char *const fields[] = {
		":method", "OPTIONS", ":scheme", "http", ":authority", "[2001:DB8::0:1]:81", ":path", "*", NULL};
	struct end e;

	server_init(&e, &any);
	raw_headers(&e, 1, END_STREAM, fields);
	CHECK(feed(&e) == 0);
	CHECK_STR(e.log.p, "request OPTIONS http://2001:db8::1:81* 0\nend\n");
	end_done(&e);
}

static void a_body_that_differs_from_its_length_never_ends(void)
{
	static const char *const five[] = {":method", "POST", ":scheme",        "https", ":authority", "example.com",
					   ":path",   "/",    "content-length", "5",     NULL};
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
	static const char *const bad[][3] = {{":path", "/x", NULL},
					     {":status", "200", NULL},
					     {"Upper", "x", NULL},
					     {"connection", "close", NULL},
					     {"a", "b\n", NULL}};
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
	static const struct h2_config offered = {
		.server = true, .tls = true, .host = {"example.com", 11}, .port = 443, .websocket = true};
	static const char *const good[] = {":method",
					   "CONNECT",
					   ":protocol",
					   "websocket",
					   ":scheme",
					   "https",
					   ":authority",
					   "example.com",
					   ":path",
					   "/ws",
					   "sec-websocket-version",
					   "13",
					   NULL};
	static const char *const other[] = {":method",    "CONNECT",     ":protocol", "connect-udp", ":scheme", "https",
					    ":authority", "example.com", ":path",     "/",           NULL};
	static const char *const not_connect[] = {":method", "GET",   ":protocol",  "websocket",
						  ":scheme", "https", ":authority", "example.com",
						  ":path",   "/",     NULL};
	static const char *const elsewhere[] = {":method",    "CONNECT",  ":protocol", "websocket", ":scheme", "https",
						":authority", "evil.com", ":path",     "/",         NULL};
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

		frame(&e->raw, at ? CONTINUATION : HEADERS,
		      (at ? 0 : END_STREAM) | (at + piece == block.n ? END_HEADERS : 0), id, block.p + at, piece);
	}
}

static void heads_have_limits(void)
{
	static const struct {
		size_t n, value;
		bool fine;
	} cases[] = {{HTTP_MAX_FIELDS, 1, true}, {HTTP_MAX_FIELDS + 1, 1, false},
		     {5000, 0, false},           {6, 10000, true},
		     {7, 10000, false},          {1, 60000, true},
		     {1, 65536, false}};
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

/* A literal that is added to the table, and n times pointed at. */
static void raw_repeated(struct end *e, size_t n)
{
	AUTO_BUF block = {0};
	char large[4000];
	size_t i;

	memset(large, 'x', sizeof(large));
	server_init(e, &server_config);
	buf_init(&block, 1 << 20);
	for (i = 0; get[i]; i += 2)
		hpack(&block, sv_of(get[i]), sv_of(get[i + 1]));
	buf_char(&block, 0x40);
	hpack_int(&block, 1);
	buf_str(&block, "a");
	hpack_int(&block, sizeof(large));
	buf_add(&block, large, sizeof(large));
	for (i = 0; i < n; i++)
		buf_char(&block, (char)(0x80 | 62));
	frame(&e->raw, HEADERS, END_HEADERS | END_STREAM, 1, block.p, block.n);
}

static void one_byte_for_a_large_field_gains_nothing(void)
{
	struct end e;

	raw_repeated(&e, 20);
	CHECK(feed(&e) == 0);
	CHECK(!saw(&e, "request") && e.refused_status == 431);
	end_done(&e);
	/* nor does it keep us busy */
	raw_repeated(&e, 10000);
	CHECK(feed(&e) < 0 && !saw(&e, "request"));
	CHECK(sends(&e, "GOAWAY 0 code 11\n") && h2_over(e.h));
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
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
