/* A client and a server of ours talk to each other through memory. */
#include "http_h2_rig.h"

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

static void grpc_streams_both_ways_and_ends_with_trailers(void)
{
	struct http_field fields[] = {{sv_of("te"), sv_of("trailers")},
				      {sv_of("content-type"), sv_of("application/grpc")}};
	struct http_field trailer[] = {{sv_of("grpc-status"), sv_of("0")}, {sv_of("grpc-message"), sv_of("")}};
	struct http_response yes = {
		.status = 200, .fields = {fields + 1, 1}, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct http_fields trailers = {trailer, 2};
	struct http_request r = request("POST", true);
	struct end client, server;
	struct h2_stream *s;

	pair_init(&client, &server, false);
	r.fields = (struct http_fields){fields, 2};
	CHECK(h2_request(client.h, &r, NULL, &s) == 0);
	pump(&client, &server);
	CHECK_STR(server.log.p, "request POST https://example.com:443/pkg.Service/Call body -1 te=trailers "
				"content-type=application/grpc\n");
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
	struct http_field fields[] = {{sv_of("content-type"), sv_of("application/grpc")},
				      {sv_of("grpc-status"), sv_of("12")}};
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
	struct http_response hints = {.status = 103, .fields = {link, 1}, .length = HTTP_LENGTH_UNKNOWN},
			     yes = {.status = 204, .length = 0}, go_on = {.status = 100, .length = HTTP_LENGTH_UNKNOWN};
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
	struct http_field key[] = {{sv_of("sec-websocket-key"), sv_of("x")},
				   {sv_of("sec-websocket-protocol"), sv_of("chat")}};
	struct http_response yes = {
		.status = 101, .websocket = true, .fields = {key, 2}, .length = HTTP_LENGTH_UNKNOWN};
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
	CHECK_STR(server.log.p,
		  "request GET https://example.com:443/pkg.Service/Call websocket 0 sec-websocket-protocol=chat\n");
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
	} bad[] = {{":path", "/admin"},
		   {":authority", "evil.com"},
		   {"host", "evil.com"},
		   {"content-length", "1"},
		   {"transfer-encoding", "chunked"},
		   {"connection", "x"},
		   {"te", "gzip"},
		   {"Upper", "x"},
		   {"a", "b\r\nc: d"},
		   {"a", " b"},
		   {"", "x"},
		   {"proxy-authorization", "x"},
		   {"content_length", "1"}};
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
		CHECK(!r->guarded.n || !sv_eq(r->guarded, sv_n((const char *)nva->v[i].name, nva->v[i].namelen)) ||
		      nva->v[i].flags & NGHTTP2_NV_FLAG_NO_INDEX);
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

int main(void)
{
	static const struct check_case cases[] = {
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
		CASE(a_response_to_head_has_a_length_and_no_body),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
