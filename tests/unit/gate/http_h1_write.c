#include "check.h"
#include "http/h1_write.h"

#include <errno.h>

#include "base/cleanup.h"

static struct http_request request(void)
{
	return (struct http_request){
		.method = sv_of("GET"), .host = sv_of("a.example"), .port = 80, .target = sv_of("/x?y")};
}

static struct http_response response(uint16_t status)
{
	return (struct http_response){.status = status, .reason = sv_of("R"), .length = HTTP_LENGTH_UNKNOWN};
}

static const char *written_request(struct buf *out, const struct http_request *r, bool proxy, enum h1_body *body)
{
	buf_clear(out);
	return h1_write_request(out, r, proxy, body) < 0 ? "refused" : out->p;
}

static void a_request_is_written_for_origin_and_proxy(void)
{
	struct http_field v[] = {{sv_of("accept"), sv_of("*/*")}, {sv_of("te"), sv_of("trailers")}};
	struct http_request r = request();
	enum h1_body body = H1_BODY_CLOSE;
	AUTO_BUF out = {0};

	buf_init(&out, 1000);
	CHECK_STR(written_request(&out, &r, false, &body), "GET /x?y HTTP/1.1\r\nHost: a.example\r\n\r\n");
	CHECK(body == H1_BODY_NONE);
	CHECK_STR(written_request(&out, &r, true, &body),
		  "GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n\r\n");
	r.tls = true;
	r.fields = (struct http_fields){v, 2};
	CHECK_STR(written_request(&out, &r, false, &body),
		  "GET /x?y HTTP/1.1\r\nHost: a.example:80\r\nConnection: TE\r\naccept: */*\r\nte: trailers\r\n\r\n");
	r = request();
	r.method = sv_of("CONNECT");
	r.host = sv_of("::1");
	r.target = sv_of("");
	CHECK_STR(written_request(&out, &r, true, &body), "CONNECT [::1]:80 HTTP/1.1\r\nHost: [::1]:80\r\n\r\n");
	r = request();
	r.last = true;
	CHECK_STR(written_request(&out, &r, false, &body),
		  "GET /x?y HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
	r = request();
	r.websocket = true;
	CHECK_STR(written_request(&out, &r, false, &body),
		  "GET /x?y HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

static void a_body_is_framed_by_what_is_known_of_it(void)
{
	struct http_request r = request();
	enum h1_body body = H1_BODY_CLOSE;
	AUTO_BUF out = {0};

	buf_init(&out, 1000);
	r.method = sv_of("POST");
	CHECK_STR(written_request(&out, &r, false, &body),
		  "POST /x?y HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n");
	CHECK(body == H1_BODY_NONE);
	r.body = r.expect_continue = true;
	r.length = INT64_MAX;
	CHECK_STR(written_request(&out, &r, false, &body), "POST /x?y HTTP/1.1\r\nHost: a.example\r\nContent-Length: "
							   "9223372036854775807\r\nExpect: 100-continue\r\n\r\n");
	CHECK(body == H1_BODY_LENGTH);
	r.expect_continue = false;
	r.length = HTTP_LENGTH_UNKNOWN;
	CHECK_STR(written_request(&out, &r, false, &body),
		  "POST /x?y HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n");
	CHECK(body == H1_BODY_CHUNKED);
}

static void nothing_that_frames_or_splits_is_written(void)
{
	static const char *const names[] = {
		"content-length",
		"transfer-encoding",
		"host",
		"connection",
		"upgrade",
		"keep-alive",
		"trailer",
		"proxy-authorization",
		"http2-settings",
		"expect",
		"content_length",
		"content.length",
		"transfer_encoding",
		"te",
		"Accept",
		"",
		"a b",
		"a:",
		"a\r\nb",
		"a\n",
		"a\xe9",
	};
	static const char *const values[] = {"a\r\nb: c", "a\nb", "a\rb", "\x01", " a", "a ", "\ta", "\x7f"};
	struct http_field f = {sv_of("a"), sv_of("b")};
	struct http_fields fields = {&f, 1};
	struct http_request r = request();
	struct http_response s = response(200);
	struct h1_reply to = {0};
	enum h1_body body;
	AUTO_BUF out = {0};
	size_t i;

	buf_init(&out, 1000);
	(void)buf_str(&out, "before");
	r.fields = s.fields = fields;
	for (i = 0; i < ARRAY_LEN(names) + ARRAY_LEN(values); i++) {
		f = (struct http_field){sv_of("a"), sv_of("b")};
		if (i < ARRAY_LEN(names))
			f.name = sv_of(names[i]);
		else
			f.value = sv_of(values[i - ARRAY_LEN(names)]);
		CHECK(h1_write_request(&out, &r, false, &body) == -EINVAL);
		CHECK(h1_write_response(&out, &s, &to, &body) == -EINVAL);
		CHECK(h1_write_last_chunk(&out, &fields) == -EINVAL);
	}
	f = (struct http_field){sv_of("authorization"), sv_of("b")};
	CHECK(h1_write_last_chunk(&out, &fields) == -EINVAL);
	f = (struct http_field){sv_of("a"), sv_n("b\0c", 3)};
	CHECK(h1_write_request(&out, &r, false, &body) == -EINVAL);
	CHECK_STR(out.p, "before");
}

static void a_malformed_request_is_not_written(void)
{
	struct http_request r[16];
	enum h1_body body;
	AUTO_BUF out = {0};
	size_t i;

	buf_init(&out, 1000);
	for (i = 0; i < ARRAY_LEN(r); i++)
		r[i] = request();
	r[0].method = sv_of("GET / HTTP/1.1\r\nX:");
	r[1].method = sv_of("TRACE");
	r[2].method = sv_of("");
	r[3].host = sv_of("a.example\r\nX: y");
	r[4].host = sv_of("");
	r[5].port = 0;
	r[6].target = sv_of("/ HTTP/1.1\r\nX:");
	r[7].target = sv_of("http://b.example/");
	r[8].target = sv_of("*");
	r[9].length = 5;
	r[10].websocket = r[10].body = true;
	r[11].method = sv_of("CONNECT");
	for (i = 12; i < ARRAY_LEN(r); i++)
		r[i].body = true;
	r[13].method = sv_of("HEAD");
	r[14].method = sv_of("OPTIONS");
	r[15].method = sv_of("get");
	for (i = 0; i < ARRAY_LEN(r); i++)
		CHECK(h1_write_request(&out, &r[i], false, &body) == -EINVAL);
	CHECK(out.n == 0);
}

static void a_response_ends_where_its_reader_expects(void)
{
	static const struct {
		uint16_t status;
		bool body, head, connect, http10, close;
		int64_t length;
		const char *want;
		int kind;
	} cases[] = {
		{200, false, false, false, false, false, -1, "Content-Length: 0\r\n", H1_BODY_NONE},
		{200, false, false, false, false, true, 0, "Connection: close\r\nContent-Length: 0\r\n", H1_BODY_NONE},
		{200, true, false, false, false, false, 5, "Content-Length: 5\r\n", H1_BODY_LENGTH},
		{200, true, false, false, false, false, -1, "Transfer-Encoding: chunked\r\n", H1_BODY_CHUNKED},
		{200, true, false, false, true, false, -1, "Connection: close\r\n", H1_BODY_CLOSE},
		{200, true, false, false, true, false, 5, "Connection: close\r\nContent-Length: 5\r\n", H1_BODY_LENGTH},
		{200, false, true, false, false, false, 5, "Content-Length: 5\r\n", H1_BODY_NONE},
		{200, false, true, false, false, false, -1, "", H1_BODY_NONE},
		{304, false, false, false, false, false, 5, "Content-Length: 5\r\n", H1_BODY_NONE},
		{304, false, false, false, false, false, -1, "", H1_BODY_NONE},
		{204, false, false, false, false, false, 0, "", H1_BODY_NONE},
		{103, false, false, false, false, true, 0, "", H1_BODY_NONE},
		{200, false, false, true, false, false, -1, "", H1_BODY_NONE},
		{403, true, false, true, false, false, 2, "Content-Length: 2\r\n", H1_BODY_LENGTH},
		{204, true, false, false, false, false, 5, NULL, 0},
		{200, true, true, false, false, false, 5, NULL, 0},
		{200, false, false, false, false, false, 5, NULL, 0},
		{200, true, false, true, false, false, 5, NULL, 0},
		{101, false, false, false, false, false, -1, NULL, 0},
		{99, false, false, false, false, false, -1, NULL, 0},
		{600, false, false, false, false, false, -1, NULL, 0},
	};
	AUTO_BUF out = {0};
	char want[200];
	size_t i;

	buf_init(&out, 1000);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct http_response r = response(cases[i].status);
		struct h1_reply to = {
			{.head = cases[i].head, .connect = cases[i].connect}, cases[i].http10, cases[i].close};
		enum h1_body body = H1_BODY_NONE;
		int e;

		r.body = cases[i].body;
		r.length = cases[i].length;
		buf_clear(&out);
		e = h1_write_response(&out, &r, &to, &body);
		CHECK(e == (cases[i].want ? 0 : -EINVAL));
		if (!cases[i].want)
			continue;
		(void)snprintf(want, sizeof(want), "HTTP/1.1 %u R\r\n%s\r\n", (unsigned)cases[i].status, cases[i].want);
		CHECK_STR(out.p, want);
		CHECK((int)body == cases[i].kind);
	}
}

static void a_reason_cannot_split_the_response(void)
{
	struct http_response r = response(200);
	struct h1_reply to = {0};
	enum h1_body body;
	AUTO_BUF out = {0};

	buf_init(&out, 1000);
	r.reason = sv_of("OK\r\nSet-Cookie: a=b");
	CHECK(h1_write_response(&out, &r, &to, &body) == -EINVAL && out.n == 0);
}

static void chunks_and_trailers_are_written(void)
{
	struct http_field f = {sv_of("grpc-status"), sv_of("0")};
	struct http_fields trailers = {&f, 1};
	AUTO_BUF out = {0};

	buf_init(&out, 1000);
	CHECK(h1_write_chunk(&out, 0) == -EINVAL);
	CHECK(h1_write_chunk(&out, 26) == 0 && h1_write_chunk_end(&out) == 0 && h1_write_last_chunk(&out, NULL) == 0);
	CHECK(h1_write_last_chunk(&out, &trailers) == 0);
	CHECK_STR(out.p, "1a\r\n\r\n0\r\n\r\n0\r\ngrpc-status: 0\r\n\r\n");
}

static void a_denial_looks_as_promised(void)
{
	AUTO_BUF out = {0};

	buf_init(&out, 1000);
	CHECK(h1_write_error(&out, 403, "policy_denied", "network", "evil.example is not \"allowed\"\r\n", "ask") == 0);
	CHECK_STR(out.p, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nX-Proxy-Error: "
			 "blocked-by-allowlist\r\nContent-Type: application/json\r\n"
			 "Content-Length: 108\r\n\r\n"
			 "{\"error\":\"policy_denied\",\"domain\":\"network\",\"detail\":\"evil.example is not "
			 "\\\"allowed\\\"\\u000d\\n\",\"hint\":\"ask\"}");
	buf_clear(&out);
	CHECK(h1_write_error(&out, 431, "malformed_request", NULL, "too many header fields", NULL) == 0);
	CHECK_STR(out.p,
		  "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Type: "
		  "application/json\r\n"
		  "Content-Length: 63\r\n\r\n{\"error\":\"malformed_request\",\"detail\":\"too many header fields\"}");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_request_is_written_for_origin_and_proxy), CASE(a_body_is_framed_by_what_is_known_of_it),
		CASE(nothing_that_frames_or_splits_is_written),  CASE(a_malformed_request_is_not_written),
		CASE(a_response_ends_where_its_reader_expects),  CASE(a_reason_cannot_split_the_response),
		CASE(chunks_and_trailers_are_written),           CASE(a_denial_looks_as_promised),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
