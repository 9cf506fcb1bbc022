#include "relay_rig.h"

#include <stdint.h>

#include "base/cleanup.h"
#include "gate/relay/events.h"
#include "gate/relay/exchange.h"
#include "gate/relay/session.h"
#include "gate/relay/session_h2.h"
#include "http/h1.h"
#include "relay_h2_client.h"

#define CORPUS TESTS_DIR "/gate/corpus/smuggling"

static const char open_policy[] = "network: {mode: public}";
static const struct http_origin proxy = {.proxy = true}, plain = {.host = "open.example", .port = 80};

static bool starts(const char *s, const char *with)
{
	return sv_starts(sv_of(s), with);
}

/* The corpus: what egress sees is what a reader of the whole text finds, message by message, or less. */

static void put_head(struct buf *out, const struct http_request *r)
{
	(void)buf_printf(out, "%.*s %s://%.*s:%u%.*s\n", (int)r->method.n, r->method.p, r->tls ? "https" : "http",
			 (int)r->host.n, r->host.p, r->port, (int)r->target.n, r->target.p);
}

/* Heads of the messages that are complete, and one more that is not. */
static size_t read_all(const struct http_origin *o, struct sv in, struct buf *heads)
{
	struct h1_context context = {.proxy = o->proxy, .tls = o->tls, .host = sv_of(o->host), .port = o->port};
	struct h1 *h = h1_new_request(&context, NULL);
	enum h1_event e;
	struct sv data;
	size_t n = 0;

	while ((e = h1_read(h, &in, &data)) != H1_MORE && e != H1_ERROR) {
		if (e == H1_HEAD)
			put_head(heads, h1_request(h));
		if (e != H1_END)
			continue;
		n++;
		if (h1_request(h)->websocket || sv_is(h1_request(h)->method, "CONNECT") || !h1_keeps(h))
			break;
		h1_next(h);
	}
	h1_free(h);
	return n;
}

/* The heads that egress saw, without their fields. */
static void strip(const char *seen, struct buf *out)
{
	const char *line, *end, *blank;

	for (line = seen; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (starts(line, "end")) /* of a body */
			continue;
		blank = strchr(strchr(line, ' ') + 1, ' ');
		(void)buf_add(out, line, (size_t)((blank && blank < end ? blank : end) - line));
		(void)buf_char(out, '\n');
	}
}

static void replay(struct rig *g, const struct http_origin *o, const char *name, struct sv text, size_t step)
{
	AUTO_BUF heads = {0};
	AUTO_BUF seen = {0};
	size_t n, at, part;

	buf_init(&heads, 1 << 20);
	buf_init(&seen, 1 << 20);
	n = read_all(o, text, &heads);
	rig_connect(g, o);
	for (at = 0; at < text.n && !g->closed; at += part) {
		part = step < text.n - at ? step : text.n - at;
		rig_send(g, sv_n(text.p + at, part));
	}
	strip(rig_seen(g), &seen);
	if (g->ends > n || seen.n > heads.n || (seen.n && memcmp(seen.p, heads.p, seen.n) != 0)) {
		printf("# %s: egress saw %zu of %zu messages:\n# %s\n", name, g->ends, n, seen.p ? seen.p : "");
		CHECK(false);
	}
}

/* A refusal is said, and ends the connection. */
static void check_refusal(const struct rig *g, const char *name)
{
	if (g->closed && g->got.n && strstr(g->got.p, "{\"error\":\""))
		return;
	printf("# %s: got %s\n", name, g->got.n ? g->got.p : "nothing");
	CHECK(false);
}

static void smuggled_requests_do_not_reach_egress(void)
{
	struct http_origin tls = {.tls = true, .host = "a.example", .port = 443}, any = {0};
	char name[128], context[64], verdict[64], path[4096];
	AUTO_BUF index = {0};
	size_t n = 0;
	struct rig g;
	char *line, *save;

	rig_open(&g, open_policy);
	buf_init(&index, 1 << 20);
	CHECK(buf_read_file(&index, CORPUS "/INDEX") == 0);
	for (line = strtok_r(index.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		AUTO_BUF text = {0};
		const struct http_origin *o;

		if (line[0] == '#' || sscanf(line, "%127s %63s %63s", name, context, verdict) != 3 ||
		    starts(context, "response"))
			continue;
		o = strcmp(context, "proxy") == 0 ? &proxy : strcmp(context, "tls") == 0 ? &tls : &any;
		(void)snprintf(path, sizeof(path), "%s/%s", CORPUS, name);
		buf_init(&text, 1 << 20);
		CHECK(buf_read_file(&text, path) == 0);
		replay(&g, o, name, buf_view(&text), SIZE_MAX);
		/* HTTP/2 by prior knowledge is an error to a reader of HTTP/1.1, and no error here */
		if ((verdict[0] == '4' || verdict[0] == '5') && strcmp(name, "preface-h2") != 0)
			check_refusal(&g, name);
		replay(&g, o, name, buf_view(&text), text.n < 1000 ? 1 : 777);
		n++;
	}
	CHECK(n > 200);
	rig_close(&g);
}

static void connections_are_kept_and_pipelined_requests_answered_in_order(void)
{
	static const char two[] = "GET http://a.example/1 HTTP/1.1\r\nHost: a.example\r\n\r\nPOST http://b.example/2 "
				  "HTTP/1.1\r\nHost: b.example\r\nContent-Length: 2\r\n\r\nhiGET http://a.example/3 "
				  "HTTP/1.1\r\nHost: a.example\r\n\r\n";
	struct rig g;
	size_t i;

	rig_open(&g, open_policy);
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, two);
	/* the second waits for the answer to the first */
	CHECK_STR(rig_seen(&g), "GET http://a.example:80/1\n");
	g.silent = false;
	rig_answer(&g, g.x);
	rig_run(&g);
	CHECK_STR(rig_seen(&g),
		  "GET http://a.example:80/1\nPOST http://b.example:80/2 body\nend\nGET http://a.example:80/3\n");
	CHECK_STR(g.got.p, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: "
			   "2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	for (i = 0; i < 20; i++)
		CHECK_STR(rig_ask(&g, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"),
			  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	CHECK(!g.closed);
	CHECK(g.requests == 23);
	/* half-closed: what was asked is answered */
	rig_send(&g, sv_of("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\nGET http://a.example/ "
			   "HTTP/1.1\r\nHost: a.example\r\n\r\n"));
	CHECK(shutdown(g.client, SHUT_WR) == 0);
	rig_run(&g);
	CHECK(g.requests == 25 && g.closed);
	CHECK(g.relay.n_connections == 0);
	rig_close(&g);
}

static void a_client_that_hangs_up_ends_its_request(void)
{
	struct http_response r = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct rig g;

	rig_open(&g, open_policy);
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
	CHECK(link_respond(g.x, &r) == 0);
	rig_hang_up(&g);
	if (g.x)
		CHECK(link_data(g.x, sv_of("nobody is there")) > 0);
	rig_run(&g);
	CHECK(g.resets == 1 && g.relay.n_connections == 0);
	rig_close(&g);
}

static void old_clients_get_no_chunks_and_a_close(void)
{
	struct rig g;

	rig_open(&g, open_policy);
	g.answer.length = HTTP_LENGTH_UNKNOWN;
	rig_connect(&g, &proxy);
	CHECK_STR(rig_ask(&g, "GET http://a.example/ HTTP/1.0\r\nHost: a.example\r\n\r\n"),
		  "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok");
	CHECK(g.closed);
	rig_connect(&g, &proxy);
	CHECK_STR(rig_ask(&g, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"),
		  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n");
	CHECK(!g.closed);
	rig_close(&g);
}

static void a_head_and_its_first_bytes_are_one_write(void)
{
	char room[4096];
	ssize_t n;
	struct rig g;
	int i;

	rig_open(&g, open_policy);
	rig_connect(&g, &proxy);
	CHECK(send(g.client, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 51, 0) == 51);
	for (i = 0, n = -1; i < 100 && n < 0; i++) {
		CHECK(loop_step(g.loop, 0) == 0);
		n = recv(g.client, room, sizeof(room), 0);
	}
	CHECK(n == (ssize_t)strlen("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
	rig_close(&g);
}

static void a_slow_client_stops_its_own_answer_only(void)
{
	AUTO_BUF much = {0};
	size_t sent = 0, quiet = 0;
	ssize_t n;
	struct rig g;

	buf_init(&much, 1 << 20);
	while (much.n < 65536)
		(void)buf_str(&much, "0123456789abcdef");
	rig_open(&g, open_policy);
	g.silent = true;
	g.answer.length = HTTP_LENGTH_UNKNOWN;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
	CHECK(link_respond(g.x, &g.answer) == 0);
	/* nobody reads: egress must be stopped */
	while (quiet < 50) {
		n = link_data(g.x, buf_view(&much));
		sent += n > 0 ? (size_t)n : 0;
		quiet = n > 0 ? 0 : quiet + 1;
		CHECK(loop_step(g.loop, 0) == 0);
	}
	CHECK(sent < 2 << 20);
	/* and goes on when the client reads, to the last byte */
	while (sent < 4 << 20) {
		rig_run(&g);
		n = link_data(g.x, buf_view(&much));
		sent += n > 0 ? (size_t)n : 0;
	}
	CHECK(link_end(g.x, NULL) == 0);
	rig_run(&g);
	CHECK(g.got.n > sent && memcmp(g.got.p + g.got.n - 7, "\r\n0\r\n\r\n", 7) == 0);
	rig_close(&g);
}

static void large_pipelined_answers_keep_their_credit_apart(void)
{
	AUTO_BUF much = {0};
	struct rig g;
	int i;

	buf_init(&much, 1 << 20);
	while (much.n < 60000)
		(void)buf_str(&much, "0123456789abcdef");
	rig_open(&g, open_policy);
	g.answer.length = (int64_t)much.n;
	g.answer_body = buf_view(&much);
	rig_connect(&g, &proxy);
	for (i = 0; i < 40; i++)
		CHECK(send(g.client, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 51, 0) == 51);
	/* nobody reads for a while */
	for (i = 0; i < 200; i++)
		CHECK(loop_step(g.loop, 0) == 0);
	CHECK(g.requests < 40);
	rig_run(&g);
	rig_run(&g);
	CHECK(g.requests == 40 && g.got.n > 40 * much.n && !g.closed);
	/* the first answer still waits for the client when the second has begun */
	g.narrow = true;
	rig_connect(&g, &proxy);
	CHECK(send(g.client, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 51, 0) == 51);
	for (i = 0; i < 20; i++)
		CHECK(loop_step(g.loop, 0) == 0);
	g.silent = true;
	CHECK(send(g.client, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 51, 0) == 51);
	for (i = 0; i < 20; i++)
		CHECK(loop_step(g.loop, 0) == 0);
	CHECK(g.requests == 2);
	g.answer.length = HTTP_LENGTH_UNKNOWN;
	CHECK(g.x && link_respond(g.x, &g.answer) == 0 && link_data(g.x, sv_of("x")) == 1);
	rig_run(&g);
	CHECK(!g.gone && !g.closed);
	rig_close(&g);
}

static void answers_keep_their_trailers_and_interim_heads(void)
{
	struct http_field field = {sv_of("x-sum"), sv_of("1")}, hint = {sv_of("link"), sv_of("</a>")};
	struct http_fields trailers = {&field, 1};
	struct http_response early = {.status = 103, .fields = {&hint, 1}, .length = HTTP_LENGTH_UNKNOWN};
	struct rig g;

	rig_open(&g, open_policy);
	g.silent = true;
	g.answer.length = HTTP_LENGTH_UNKNOWN;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g,
		      "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTE: trailers\r\nConnection: TE\r\n\r\n");
	CHECK(link_respond(g.x, &early) == 0 && link_respond(g.x, &g.answer) == 0 && link_data(g.x, sv_of("ok")) == 2 &&
	      link_end(g.x, &trailers) == 0);
	rig_run(&g);
	CHECK(starts(g.got.p, "HTTP/1.1 103 "));
	CHECK(strstr(g.got.p, "link: </a>\r\n") && strstr(g.got.p, "\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n"));
	rig_close(&g);
}

/* HTTP/2. */

static void http2_is_served_by_prior_knowledge(void)
{
	struct h2_client c;
	struct rig g;

	rig_open(&g, open_policy);
	client_open(&c, &g, &plain);
	CHECK_STR(client_ask(&c, "GET", "open.example", "/a?b", NULL), "200\nok\nend 0\n");
	CHECK_STR(rig_seen(&g), "GET http://open.example:80/a?b\n");
	CHECK_STR(client_ask(&c, "POST", "open.example", "/", "hello"), "200\nok\nend 0\n");
	CHECK_STR(g.body.p, "hello");
	/* another host on the same connection */
	CHECK(starts(client_ask(&c, "GET", "other.example", "/", NULL), "421"));
	CHECK(g.requests == 2);
	client_close(&c);
	/* never through the proxy's port */
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
	CHECK(g.closed && starts(g.got.p, "HTTP/1.1 "));
	rig_close(&g);
}

static void connections_of_http2_are_few(void)
{
	struct relay_http *http;
	struct h2_client c;
	struct rig g;

	rig_open(&g, open_policy);
	http = g.relay.http;
	CHECK(session_h2_room(&g.relay));
	client_open(&c, &g, &plain);
	CHECK_STR(client_ask(&c, "GET", "open.example", "/", NULL), "200\nok\nend 0\n");
	CHECK(http->n_h2 == 1);
	http->n_h2 += SESSION_H2_MAX - 1;
	CHECK(!session_h2_room(&g.relay));
	http->n_h2 -= SESSION_H2_MAX - 1;
	client_close(&c);
	rig_hang_up(&g);
	CHECK(http->n_h2 == 0);
	http->n_h2 = 2 * SESSION_H2_MAX;
	rig_connect(&g, &plain);
	(void)rig_ask(&g, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
	CHECK(g.closed);
	http->n_h2 = 0;
	rig_close(&g);
}

static void heads_of_all_requests_together_are_bounded(void)
{
	static const char ask[] = "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nx-long: 0123456789\r\n\r\n";
	struct relay_http *http;
	struct rig g;

	rig_open(&g, open_policy);
	http = g.relay.http;
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, ask);
	CHECK(http->heads_open >= 17 && http->heads_open < 200);
	g.silent = false;
	rig_answer(&g, g.x);
	rig_run(&g);
	CHECK(http->heads_open == 0);
	http->heads_open = EXCHANGE_HEADS_MAX - 10;
	CHECK(starts(rig_ask(&g, ask), "HTTP/1.1 503 ") && g.requests == 1);
	CHECK(http->heads_open == EXCHANGE_HEADS_MAX - 10);
	http->heads_open = 0;
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, ask), "HTTP/1.1 200 ") && g.requests == 1);
	rig_close(&g);
}

static void the_preface_is_known_byte_by_byte(void)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	struct rig g;
	size_t i;

	rig_open(&g, open_policy);
	rig_connect(&g, &plain);
	for (i = 0; i < sizeof(preface) - 1; i++)
		rig_send(&g, sv_n(preface + i, 1));
	CHECK(g.got.n > 9 && g.got.p[3] == 4); /* SETTINGS */
	/* and what only begins like it is HTTP/1.1 */
	rig_connect(&g, &plain);
	rig_send(&g, sv_of("P"));
	rig_send(&g, sv_of("OST / HTTP/1.1\r\nHost: open.example\r\nContent-Length: 0\r\n\r\n"));
	CHECK(starts(g.got.p, "HTTP/1.1 200 "));
	rig_close(&g);
}

static void http2_denials_say_the_same(void)
{
	struct h2_client c;
	const char *got;
	struct rig g;

	rig_open(&g, "network: {mode: allowlist, allow: [{host: open.example, methods: [GET]}]}");
	client_open(&c, &g, &plain);
	got = client_ask(&c, "POST", "open.example", "/", "hello");
	CHECK(starts(got, "403 content-type=application/json "
			  "x-proxy-error=blocked-by-allowlist\n{\"error\":\"policy_denied\",\"domain\":\"network\","
			  "\"detail\":\""));
	CHECK(g.requests == 0);
	/* the connection goes on */
	CHECK_STR(client_ask(&c, "GET", "open.example", "/", NULL), "200\nok\nend 0\n");
	CHECK_STR(client_ask(&c, "HEAD", "open.example", "/", NULL),
		  "403 content-type=application/json x-proxy-error=blocked-by-allowlist\n\nend 0\n");
	got = client_ask(&c, "GET", "open.example", "/?" RIG_PLACEHOLDER, NULL);
	CHECK(starts(got, "403 "));
	CHECK(g.requests == 1);
	client_close(&c);
	rig_close(&g);
}

static void a_method_that_is_not_known_passes_only_where_a_rule_names_it(void)
{
	static const struct {
		const char *policy, *method, *status;
	} asked[] = {
		{"network: {mode: public}", "FROB", "403"},
		{"network: {mode: public}", "PROPFIND", "200"},
		{"network: {mode: public}", "get", "501"},
		{"network: {mode: public, allow: [{host: open.example, methods: [FROB]}]}", "FROB", "200"},
		{"network: {mode: allowlist, allow: [{host: open.example}]}", "FROB", "403"},
		{"network: {mode: allowlist, allow: [{host: open.example}]}", "MKCALENDAR", "200"},
		{"network: {mode: allowlist, allow: [{host: open.example}, {host: open.example, methods: [X-LIST]}]}",
		 "X-LIST", "200"},
		{"network: {mode: allowlist, allow: [{host: open.example, methods: [FROB]}], deny: [{host: "
		 "open.example, paths: [\"/**\"]}]}",
		 "FROB", "403"},
	};
	char request[128], status[32];
	struct h2_client c;
	struct rig g;
	size_t i;

	for (i = 0; i < ARRAY_LEN(asked); i++) {
		rig_open(&g, asked[i].policy);
		client_open(&c, &g, &plain);
		CHECK(starts(client_ask(&c, asked[i].method, "open.example", "/a", NULL), asked[i].status));
		CHECK(g.requests == (strcmp(asked[i].status, "200") == 0));
		client_close(&c);
		(void)snprintf(request, sizeof(request),
			       "%s http://open.example/a HTTP/1.1\r\nHost: open.example\r\n\r\n", asked[i].method);
		(void)snprintf(status, sizeof(status), "HTTP/1.1 %s ", asked[i].status);
		rig_connect(&g, &proxy);
		CHECK(starts(rig_ask(&g, request), status));
		CHECK(g.requests == (strcmp(asked[i].status, "200") == 0));
		rig_close(&g);
	}
}

static void http2_streams_do_not_wait_for_each_other(void)
{
	struct http_request r = {
		.method = sv_of("GET"), .host = sv_of("open.example"), .port = 80, .target = sv_of("/slow")};
	struct http_response answer = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct link_exchange *slow;
	struct h2_stream *stream;
	struct h2_client c;
	AUTO_BUF much = {0};
	struct rig g;

	buf_init(&much, 1 << 20);
	while (much.n < 100000)
		(void)buf_str(&much, "0123456789");
	rig_open(&g, open_policy);
	client_open(&c, &g, &plain);
	g.silent = true;
	CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
	client_run(&c);
	slow = g.x;
	CHECK(slow && link_respond(slow, &answer) == 0);
	g.silent = false;
	CHECK(strstr(client_ask(&c, "GET", "open.example", "/fast", NULL), "ok\nend 0\n"));
	buf_clear(&c.log);
	CHECK(link_data(slow, buf_view(&much)) == (ssize_t)much.n && link_end(slow, NULL) == 0);
	client_run(&c);
	client_run(&c);
	CHECK(c.log.n == much.n + strlen("\nend 0\n") && memcmp(c.log.p, much.p, much.n) == 0);
	client_close(&c);
	rig_close(&g);
}

static void http2_clients_that_give_up_end_their_request(void)
{
	struct http_request r = {
		.method = sv_of("GET"), .host = sv_of("open.example"), .port = 80, .target = sv_of("/slow")};
	struct h2_stream *stream;
	struct h2_client c;
	struct rig g;

	rig_open(&g, open_policy);
	client_open(&c, &g, &plain);
	g.silent = true;
	CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
	client_run(&c);
	CHECK(g.requests == 1);
	h2_reset(stream, H2_CANCEL);
	client_run(&c);
	CHECK(g.resets == 1);
	/* the whole connection */
	CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
	client_run(&c);
	rig_hang_up(&g);
	if (g.x)
		CHECK(link_fail(g.x, GATE_FAILURE_CUT, sv_of("")) == 0);
	rig_run(&g);
	CHECK(g.relay.n_connections == 0);
	client_close(&c);
	rig_close(&g);
}

/* In HTTP/2 any 2xx says that it is open (RFC 8441, 5.1); in HTTP/1.1 a server that does not know them answers so, and
 * means the page. */
static void a_websocket_that_was_not_opened_is_not_said_to_be(void)
{
	struct http_request r = {.method = sv_of("GET"),
				 .host = sv_of("open.example"),
				 .port = 80,
				 .target = sv_of("/ws"),
				 .websocket = true};
	static const uint16_t codes[] = {200, 204, 299, 404};
	struct http_response no = {.length = HTTP_LENGTH_UNKNOWN};
	struct h2_client c;
	struct rig g;
	size_t i;

	for (i = 0; i < ARRAY_LEN(codes); i++) {
		struct h2_stream *stream;

		rig_open(&g, open_policy);
		client_open(&c, &g, &plain);
		g.silent = true;
		CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
		client_run(&c);
		no.status = codes[i];
		no.body = codes[i] != 204;
		CHECK(link_respond(g.x, &no) == 0);
		client_run(&c);
		CHECK(starts(c.log.p, codes[i] == 404 ? "404" : "502 content-type=application/json\n{"));
		CHECK(codes[i] == 404 || strstr(c.log.p, "bad_answer"));
		client_close(&c);
		rig_close(&g);
	}
}

static void http2_carries_websockets(void)
{
	struct http_request r = {.method = sv_of("GET"),
				 .host = sv_of("open.example"),
				 .port = 80,
				 .target = sv_of("/ws"),
				 .websocket = true};
	struct http_response opened = {.status = 101, .websocket = true};
	struct h2_stream *stream;
	struct h2_client c;
	struct rig g;

	rig_open(&g, open_policy);
	client_open(&c, &g, &plain);
	g.silent = true;
	CHECK(h2_takes_websocket(c.h2));
	CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
	client_run(&c);
	CHECK(strstr(rig_seen(&g), "GET http://open.example:80/ws") && strstr(rig_seen(&g), " websocket\n"));
	CHECK(link_respond(g.x, &opened) == 0);
	client_run(&c);
	CHECK(starts(c.log.p, "101 websocket") || starts(c.log.p, "200 websocket"));
	CHECK(h2_offer(stream, sv_of("up")) == 0);
	client_run(&c);
	CHECK_STR(g.body.p, "up");
	CHECK(link_data(g.x, sv_of("down")) == 4);
	client_run(&c);
	CHECK(strstr(c.log.p, "down"));
	CHECK(h2_end(stream, NULL) == 0);
	client_run(&c);
	CHECK(g.ends == 1);
	CHECK(link_end(g.x, NULL) == 0);
	client_run(&c);
	CHECK(strstr(c.log.p, "end 0"));
	client_close(&c);
	rig_close(&g);
}

/* A frame as a client sends it; bare: without a mask, as none should. */
static void put_frame(struct buf *out, unsigned char first, const char *text, bool bare)
{
	static const unsigned char masks[2][4] = {{0x37, 0xfa, 0x21, 0x3d}};
	const unsigned char *mask = masks[bare];
	size_t n = strlen(text), i;

	(void)buf_char(out, (char)first);
	(void)buf_char(out, (char)((bare ? 0 : 0x80) | (n < 126 ? n : 126)));
	if (n >= 126) {
		(void)buf_char(out, (char)(n >> 8));
		(void)buf_char(out, (char)n);
	}
	(void)buf_add(out, mask, bare ? 0 : sizeof(masks[0]));
	for (i = 0; i < n; i++)
		(void)buf_char(out, (char)(text[i] ^ mask[i % 4]));
}

static void placeholders_do_not_pass_in_websockets(void)
{
	enum { LAST = 0x80, PACKED = 0x40, ODD = 0x20, TEXT = 1, PING = 9 };
	static const struct {
		unsigned char first[3];
		const char *text[3];
		bool refused;
		bool bare; /* the first frame */
	} said[] = {
		{{LAST | TEXT}, {"hello"}, false, false},
		{{LAST | PING, LAST | TEXT}, {"", RIG_PLACEHOLDER}, true, true},
		{{LAST | TEXT}, {RIG_PLACEHOLDER}, true, true},
		{{LAST | PING}, {RIG_PLACEHOLDER}, true, false},
		{{LAST | ODD | TEXT}, {RIG_PLACEHOLDER}, true, false},
		{{LAST | TEXT, LAST | TEXT}, {"hello", "key=" RIG_PLACEHOLDER}, true, false},
		{{LAST | TEXT},
		 {"a long one: "
		  "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
		  " " RIG_PLACEHOLDER " end"},
		 true,
		 false},
		{{TEXT, LAST | PING, LAST}, {"in ", "ping", "two: " RIG_PLACEHOLDER}, true, false},
		{{LAST | PACKED | TEXT, LAST | TEXT},
		 {"what looks like one, compressed: " RIG_PLACEHOLDER, "hello"},
		 false,
		 false},
		{{LAST | TEXT, LAST | TEXT}, {"none", "RIG_PLACEHOLDER"}, false, false},
	};
	struct http_request r = {.method = sv_of("GET"),
				 .host = sv_of("open.example"),
				 .port = 80,
				 .target = sv_of("/ws"),
				 .websocket = true};
	struct http_response opened = {.status = 101, .websocket = true};
	struct h2_stream *stream;
	struct h2_client c;
	struct rig g;
	size_t i, k, at, step;

	for (i = 0; i < 2 * ARRAY_LEN(said); i++) {
		AUTO_BUF bytes = {0};

		buf_init(&bytes, 4096);
		for (k = 0; k < 3 && said[i / 2].text[k]; k++)
			put_frame(&bytes, said[i / 2].first[k], said[i / 2].text[k], said[i / 2].bare && k == 0);
		rig_open(&g, open_policy);
		client_open(&c, &g, &plain);
		g.silent = true;
		CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
		client_run(&c);
		CHECK(link_respond(g.x, &opened) == 0);
		client_run(&c);
		/* at once, or byte by byte */
		step = i % 2 ? 1 : bytes.n;
		for (at = 0; at < bytes.n && !strstr(c.log.p, "closed"); at += step) {
			if (h2_offer(stream, sv_n(bytes.p + at, step)) < 0)
				break;
			client_run(&c);
		}
		CHECK((g.body.n == bytes.n) == !said[i / 2].refused);
		client_close(&c);
		rig_close(&g);
	}
}

static void egress_that_is_gone_ends_all(void)
{
	struct rig g;

	rig_open(&g, open_policy);
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
	link_free(g.egress);
	g.egress = NULL;
	rig_run(&g);
	CHECK(g.closed && g.relay.n_connections == 0);
	rig_close(&g);
}

/* Each is named in the log, or does not pass: else one could be buried under many. */
static void what_the_log_could_not_name_does_not_pass(void)
{
	char kind[32];
	struct rig g;
	unsigned i, k;
	bool refused = false;

	rig_open(&g, open_policy);
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, "GET http://known.example/ HTTP/1.1\r\nHost: known.example\r\n\r\n"),
		     "HTTP/1.1 200 "));
	/* a second may pass amid this, and make room */
	for (k = 0; k < 20 && !refused; k++) {
		for (i = 0; !relay_events_full(g.relay.events); i++) {
			(void)snprintf(kind, sizeof(kind), "noise%u-%u", k, i);
			relay_events_tell(g.relay.events, &(struct relay_event){.domain = DOMAIN_NETWORK,
										.allow = true,
										.kind = sv_of(kind),
										.subject = sv_of(kind)});
		}
		g.requests = 0;
		rig_connect(&g, &proxy);
		refused = starts(rig_ask(&g, "GET http://hidden.example/ HTTP/1.1\r\nHost: hidden.example\r\n\r\n"),
				 "HTTP/1.1 503 ");
		CHECK(g.requests == !refused);
		if (!refused)
			rig_policy(&g, open_policy); /* all kinds are new again */
	}
	CHECK(refused && strstr(g.got.p, "the log has not named them all yet"));
	rig_connect(&g, &proxy);
	CHECK(k > 1 || starts(rig_ask(&g, "GET http://known.example/ HTTP/1.1\r\nHost: known.example\r\n\r\n"),
			      "HTTP/1.1 200 "));
	rig_close(&g);
}

static const struct check_case cases[] = {
	CASE(what_the_log_could_not_name_does_not_pass),
	CASE(smuggled_requests_do_not_reach_egress),
	CASE(connections_are_kept_and_pipelined_requests_answered_in_order),
	CASE(a_client_that_hangs_up_ends_its_request),
	CASE(old_clients_get_no_chunks_and_a_close),
	CASE(a_head_and_its_first_bytes_are_one_write),
	CASE(a_slow_client_stops_its_own_answer_only),
	CASE(large_pipelined_answers_keep_their_credit_apart),
	CASE(answers_keep_their_trailers_and_interim_heads),
	CASE(http2_is_served_by_prior_knowledge),
	CASE(connections_of_http2_are_few),
	CASE(heads_of_all_requests_together_are_bounded),
	CASE(the_preface_is_known_byte_by_byte),
	CASE(http2_denials_say_the_same),
	CASE(a_method_that_is_not_known_passes_only_where_a_rule_names_it),
	CASE(http2_streams_do_not_wait_for_each_other),
	CASE(http2_clients_that_give_up_end_their_request),
	CASE(http2_carries_websockets),
	CASE(a_websocket_that_was_not_opened_is_not_said_to_be),
	CASE(placeholders_do_not_pass_in_websockets),
	CASE(egress_that_is_gone_ends_all),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
