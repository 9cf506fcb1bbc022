#include "relay_rig.h"

#include "base/cleanup.h"

static const char policy[] = "network:\n"
			     "  mode: allowlist\n"
			     "  allow:\n"
			     "    - host: open.example\n"
			     "    - {host: read.example, methods: [GET, HEAD], paths: [\"/simple/**\"]}\n"
			     "    - {host: key.example, credential: key}\n"
			     "    - {host: both.example, paths: [/a], credential: key}\n"
			     "    - {host: both.example, paths: [/b], credential: other}\n"
			     "    - {host: graph.example, graphql: {types: [query]}}\n"
			     "    - {host: tools.example, mcp: {tools: [search]}}\n"
			     "    - {host: ports.example, ports: [8080]}\n"
			     "  deny:\n"
			     "    - {host: open.example, paths: [\"/private/**\"]}\n";

static const struct http_origin proxy = {.proxy = true};

static struct http_origin tls_to(const char *host)
{
	struct http_origin o = {.tls = true, .port = 443};

	(void)snprintf(o.host, sizeof(o.host), "%s", host);
	return o;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void requests_pass_or_are_refused_before_egress_sees_them(void)
{
	static const struct {
		const char *request;
		const char *status; /* of the answer */
		const char *seen;   /* by egress; NULL: nothing */
	} cases[] = {
		{"GET http://open.example/a?q=1 HTTP/1.1\r\nHost: open.example\r\n\r\n", "200",
		 "GET http://open.example:80/a?q=1\n"},
		{"GET http://OPEN.example./a HTTP/1.1\r\nHost: open.example\r\nX-A: 1\r\nConnection: x-a\r\n\r\n",
		 "200", "GET http://open.example:80/a\n"},
		{"HEAD http://read.example/simple/x HTTP/1.1\r\nHost: read.example\r\n\r\n", "200",
		 "HEAD http://read.example:80/simple/x\n"},
		{"GET http://ports.example:8080/ HTTP/1.1\r\nHost: ports.example:8080\r\n\r\n", "200",
		 "GET http://ports.example:8080/\n"},
		{"GET http://ports.example/ HTTP/1.1\r\nHost: ports.example\r\n\r\n", "403", NULL},
		{"GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n", "403", NULL},
		{"GET http://open.example/private/x HTTP/1.1\r\nHost: open.example\r\n\r\n", "403", NULL},
		{"GET http://open.example/%70rivate/x HTTP/1.1\r\nHost: open.example\r\n\r\n", "403", NULL},
		{"GET http://open.example//private/x HTTP/1.1\r\nHost: open.example\r\n\r\n", "403", NULL},
		{"GET http://open.example/x/../private/x HTTP/1.1\r\nHost: open.example\r\n\r\n", "400", NULL},
		{"GET http://read.example/simple HTTP/1.1\r\nHost: read.example\r\n\r\n", "403", NULL},
		{"GET http://read.example/other HTTP/1.1\r\nHost: read.example\r\n\r\n", "403", NULL},
		{"GET http://read.example/simple/a%2Fb HTTP/1.1\r\nHost: read.example\r\n\r\n", "403", NULL},
		{"POST http://read.example/simple/x HTTP/1.1\r\nHost: read.example\r\nContent-Length: 2\r\n\r\nhi",
		 "403", NULL},
		{"GET http://read.example/simple/x HTTP/1.1\r\nHost: read.example\r\nX-HTTP-Method-Override: "
		 "DELETE\r\n\r\n",
		 "403", NULL},
		{"GET http://read.example/simple/x?_method=DELETE HTTP/1.1\r\nHost: read.example\r\n\r\n", "403", NULL},
		{"get http://read.example/simple/x HTTP/1.1\r\nHost: read.example\r\n\r\n", "501", NULL},
		{"TRACE http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n", "405", NULL},
		{"GET https://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n", "400", NULL},
		{"GET http://open.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n", "4", NULL},
		{"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "403", NULL},
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\nUpgrade: h2c\r\nConnection: upgrade, "
		 "http2-settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
		 "501", NULL},
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 1\r\nTransfer-Encoding: "
		 "chunked\r\n\r\n",
		 "400", NULL},
	};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got;

		rig_connect(&g, &proxy);
		got = rig_ask(&g, cases[i].request);
		if (!starts(got, "HTTP/1.1 ") || !starts(got + 9, cases[i].status)) {
			printf("# %s: got %.60s\n", cases[i].request, got);
			CHECK(false);
		}
		CHECK_STR(rig_seen(&g), cases[i].seen ? cases[i].seen : "");
		CHECK(g.requests == (cases[i].seen ? 1 : 0));
		CHECK(g.closed == !cases[i].seen);
		CHECK(cases[i].seen || strstr(got, "Connection: close\r\n"));
	}
	rig_close(&g);
}

static void a_denial_is_what_the_contract_says(void)
{
	struct rig g;
	const char *got;

	rig_open(&g, policy);
	rig_connect(&g, &proxy);
	got = rig_ask(&g, "GET http://other.example/x?secret=1 HTTP/1.1\r\nHost: other.example\r\n\r\n");
	CHECK(starts(got, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nX-Proxy-Error: "
			  "blocked-by-allowlist\r\nContent-Type: application/json\r\n"));
	CHECK(strstr(got, "\r\n\r\n{\"error\":\"policy_denied\",\"domain\":\"network\",\"detail\":\""));
	CHECK(strstr(got, "\",\"hint\":\""));
	CHECK(g.closed);
	got = rig_event(&g);
	CHECK(starts(got, "deny GET http://other.example/x | "));
	/* to HEAD the same without a body */
	rig_connect(&g, &proxy);
	got = rig_ask(&g, "HEAD http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n");
	CHECK(starts(got, "HTTP/1.1 403 ") && strcmp(got + strlen(got) - 4, "\r\n\r\n") == 0);
	rig_close(&g);
}

static void the_first_of_each_kind_that_is_allowed_is_told(void)
{
	struct rig g;

	rig_open(&g, policy);
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://open.example/a?b HTTP/1.1\r\nHost: open.example\r\n\r\n");
	(void)rig_ask(&g, "GET http://open.example/c HTTP/1.1\r\nHost: open.example\r\n\r\n");
	CHECK(g.requests == 2);
	CHECK(starts(rig_event(&g), "allow GET http://open.example/a | network.allow open.example (p.yaml:"));
	CHECK_STR(rig_event(&g), "");
	rig_close(&g);
}

static uint64_t gone_out(struct rig *g)
{
	struct gate_usage u = {0};
	struct wire_message m;

	relay_events_flush(g->relay.events);
	rig_run(g);
	while (wire_receive(g->supervisor, &m) > 0) {
		if (m.type == GATE_USAGE)
			CHECK(gate_get_usage(buf_view(&m.body), &u) == 0);
		wire_message_done(&m);
	}
	return u.bytes_out;
}

static void what_leaves_in_urls_and_headers_has_gone_out(void)
{
	static char request[8000], filler[3001];
	struct rig g;
	uint64_t out;

	memset(filler, 'A', sizeof(filler) - 1);
	(void)snprintf(request, sizeof(request),
		       "GET http://open.example/%s?%.1000s HTTP/1.1\r\nHost: open.example\r\nX-D: %s\r\n\r\n", filler,
		       filler, filler);
	rig_open(&g, policy);
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, request);
	out = gone_out(&g);
	CHECK(g.requests == 1 && out > 7000 && out < 7300);
	/* egress denies this one */
	g.failure = GATE_FAILURE_QUOTA;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, request);
	CHECK(gone_out(&g) == out);
	rig_close(&g);
}

static void nothing_is_served_when_nothing_can_be_logged(void)
{
	struct rig g;

	rig_open(&g, policy);
	rig_connect(&g, &proxy);
	g.relay.quiet = true;
	CHECK(starts(rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n"), "HTTP/1.1 503 "));
	CHECK(g.requests == 0);
	rig_close(&g);
}

static void failures_of_egress_are_told_apart(void)
{
	static const struct {
		enum gate_failure why;
		const char *head, *body;
	} cases[] = {
		{GATE_FAILURE_NAME, "HTTP/1.1 502 ", "{\"error\":\"name_not_resolved\",\"detail\":\""},
		{GATE_FAILURE_EXPIRED, "HTTP/1.1 502 ", "{\"error\":\"certificate_expired\",\"detail\":\""},
		{GATE_FAILURE_TIMEOUT, "HTTP/1.1 504 ", "{\"error\":\"timeout\",\"detail\":\""},
		{GATE_FAILURE_ADDRESS,
		 "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nX-Proxy-Error: blocked-by-allowlist\r\n",
		 "{\"error\":\"policy_denied\",\"domain\":\"network\",\"detail\":\""},
		{GATE_FAILURE_RANGE, "HTTP/1.1 403 ",
		 "an address that network.deny has: by the test\",\"hint\":\"use another server, or ask the operator"},
		{GATE_FAILURE_COMPRESSED, "HTTP/1.1 403 ",
		 "the policy does not allow this: by the test\",\"hint\":\"switch the compression of messages off"},
		{GATE_FAILURE_POLICY, "HTTP/1.1 403 ",
		 "the policy does not allow this: by the test\",\"hint\":\"ask the operator"},
		{GATE_FAILURE_QUOTA, "HTTP/1.1 429 ",
		 "{\"error\":\"budget_used_up\",\"domain\":\"network\",\"detail\":\""},
	};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got;

		g.failure = cases[i].why;
		rig_connect(&g, &proxy);
		got = rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
		CHECK(starts(got, cases[i].head));
		CHECK(strstr(got, cases[i].body));
		CHECK(!strstr(got, "\"hint\":\"\""));
	}
	rig_close(&g);
}

static void a_placeholder_leaves_nowhere(void)
{
	static const struct {
		const char *request;
		const char *seen; /* NULL: refused */
	} cases[] = {
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\nAuthorization: Bearer " RIG_PLACEHOLDER
		 "\r\n\r\n",
		 NULL},
		{"GET http://open.example/?a=" RIG_PLACEHOLDER " HTTP/1.1\r\nHost: open.example\r\n\r\n", NULL},
		{"GET http://open.example/" RIG_PLACEHOLDER "/x HTTP/1.1\r\nHost: open.example\r\n\r\n", NULL},
		/* percent-encoded, base64 behind "u:" */
		{"GET http://open.example/?a=sk%2Dant%2Dplaceholder-0123456789abcdef HTTP/1.1\r\nHost: "
		 "open.example\r\n\r\n",
		 NULL},
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\nX: "
		 "dTpzay1hbnQtcGxhY2Vob2xkZXItMDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n",
		 NULL},
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n" RIG_PLACEHOLDER ": 1\r\n\r\n", NULL},
		/* where a rule names the credential, egress puts its own into field or query */
		{"GET http://key.example/ HTTP/1.1\r\nHost: key.example\r\nAuthorization: Bearer " RIG_PLACEHOLDER
		 "\r\nA: b\r\n\r\n",
		 "GET http://key.example:80/ a=b\n"},
		{"GET http://key.example/x?k=" RIG_PLACEHOLDER "&b=c HTTP/1.1\r\nHost: key.example\r\n\r\n",
		 "GET http://key.example:80/x?b=c\n"},
		{"GET http://key.example/x?k=" RIG_PLACEHOLDER " HTTP/1.1\r\nHost: key.example\r\n\r\n",
		 "GET http://key.example:80/x\n"},
		{"GET http://key.example/" RIG_PLACEHOLDER " HTTP/1.1\r\nHost: key.example\r\n\r\n", NULL},
		{"GET http://key.example/ HTTP/1.1\r\nHost: key.example\r\n" RIG_PLACEHOLDER ": 1\r\n\r\n", NULL},
		/* another's is no part of what the rule adds */
		{"GET http://key.example/ HTTP/1.1\r\nHost: key.example\r\nAuthorization: Bearer " RIG_OTHER "\r\n\r\n",
		 NULL},
		{"GET http://key.example/x?k=" RIG_OTHER "&b=c HTTP/1.1\r\nHost: key.example\r\n\r\n", NULL},
		{"GET http://key.example/ HTTP/1.1\r\nHost: key.example\r\nA: " RIG_PLACEHOLDER " " RIG_OTHER
		 "\r\n\r\n",
		 NULL},
		{"GET http://key.example/ HTTP/1.1\r\nHost: key.example\r\nA: " RIG_PLACEHOLDER "\r\nB: " RIG_OTHER
		 "\r\n\r\n",
		 NULL},
		/* but where rules add either, one stands for the other */
		{"GET http://both.example/a HTTP/1.1\r\nHost: both.example\r\nA: " RIG_OTHER "\r\nB: c\r\n\r\n",
		 "GET http://both.example:80/a b=c\n"},
		/* half of one in one request, half in the next field */
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\nA: sk-ant-placeholder-\r\nB: "
		 "0123456789abcdef\r\n\r\n",
		 "GET http://open.example:80/ a=sk-ant-placeholder- b=0123456789abcdef\n"},
		{"GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n0123456789abcdef: "
		 "sk-ant-placeholder-\r\n\r\n",
		 "GET http://open.example:80/ 0123456789abcdef=sk-ant-placeholder-\n"},
	};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got;

		rig_connect(&g, &proxy);
		got = rig_ask(&g, cases[i].request);
		if (!starts(got, cases[i].seen ? "HTTP/1.1 200 " : "HTTP/1.1 403 ")) {
			printf("# %s: got %.60s\n", cases[i].request, got);
			CHECK(false);
		}
		/* who sent it hears what to do */
		CHECK(cases[i].seen || strstr(got, "send the request without it; where a rule has that credential for "
						   "a host, the gateway adds it to each request by itself"));
		CHECK_STR(rig_seen(&g), cases[i].seen ? cases[i].seen : "");
	}
	/* all is as before after so many refusals */
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n"), "HTTP/1.1 200 "));
	rig_close(&g);
}

/* Heads are looked through in pieces that are joined from their texts: every way in which the end of a text can meet
 * the end of a piece. */
static void a_placeholder_is_found_behind_texts_of_any_length(void)
{
	static const char rest[] =
		"HTTP/1.1\r\nHost: open.example\r\nA: 0123456789012345678901234567890123456789\r\nB: ";
	char fill[1100], request[2048];
	struct rig g;
	int n;

	memset(fill, 'x', sizeof(fill));
	rig_open(&g, policy);
	for (n = 900; n < (int)sizeof(fill); n++) {
		(void)snprintf(request, sizeof(request), "GET http://open.example/%.*s %s" RIG_PLACEHOLDER "\r\n\r\n",
			       n, fill, rest);
		rig_connect(&g, &proxy);
		CHECK(starts(rig_ask(&g, request), "HTTP/1.1 403 "));
		CHECK_STR(rig_seen(&g), "");
		(void)snprintf(request, sizeof(request), "GET http://open.example/%.*s %snone\r\n\r\n", n, fill, rest);
		rig_connect(&g, &proxy);
		CHECK(starts(rig_ask(&g, request), "HTTP/1.1 200 "));
	}
	rig_close(&g);
}

/* The body in pieces of n bytes, to a host with a credential too. */
static void send_body_in_pieces(struct rig *g, const char *host, size_t n)
{
	static const char body[] = "before " RIG_PLACEHOLDER " after";
	char head[256];
	size_t at, part;

	rig_connect(g, &proxy);
	(void)snprintf(head, sizeof(head), "POST http://%s/ HTTP/1.1\r\nHost: %s\r\nContent-Length: %zu\r\n\r\n", host,
		       host, sizeof(body) - 1);
	rig_send(g, sv_of(head));
	for (at = 0; at < sizeof(body) - 1; at += part) {
		part = n < sizeof(body) - 1 - at ? n : sizeof(body) - 1 - at;
		rig_send(g, sv_n(body + at, part));
	}
}

static void no_byte_of_a_placeholder_in_a_body_leaves(void)
{
	static const size_t sizes[] = {1, 3, 10, 1000};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		send_body_in_pieces(&g, i % 2 ? "key.example" : "open.example", sizes[i / 2]);
		CHECK(g.ends == 0);
		CHECK(g.resets == 1);
		CHECK(g.body.n <= 7 && (g.body.n == 0 || memcmp(g.body.p, "before ", g.body.n) == 0));
		CHECK(g.got.n && starts(g.got.p, "HTTP/1.1 403 "));
		CHECK(g.closed);
	}
	rig_close(&g);
}

static void what_only_looks_like_a_placeholder_passes_whole(void)
{
	struct rig g;

	rig_open(&g, policy);
	rig_connect(&g, &proxy);
	rig_send(&g, sv_of("POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nTransfer-Encoding: "
			   "chunked\r\n\r\n"));
	rig_send(&g, sv_of("13\r\nsk-ant-placeholder-\r\n"));
	rig_send(&g, sv_of("a\r\n012345678X\r\n"));
	rig_send(&g, sv_of("7\r\nsk-ant-\r\n0\r\nX-Sum: 1\r\n\r\n"));
	CHECK(g.body.n && strcmp(g.body.p, "sk-ant-placeholder-012345678Xsk-ant-") == 0);
	CHECK(strstr(rig_seen(&g), "end x-sum=1\n"));
	CHECK(g.got.n && starts(g.got.p, "HTTP/1.1 200 "));
	/* in trailers */
	rig_connect(&g, &proxy);
	rig_send(&g, sv_of("POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nTransfer-Encoding: "
			   "chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: " RIG_PLACEHOLDER "\r\n\r\n"));
	CHECK(g.ends == 0 && g.resets == 1);
	CHECK(g.got.n && starts(g.got.p, "HTTP/1.1 403 "));
	rig_close(&g);
}

static void bodies_are_held_to_graphql_and_mcp(void)
{
	static const struct {
		const char *host, *type, *body;
		const char *sent; /* NULL: refused */
	} cases[] = {
		{"graph.example", "application/json", "{\"query\": \"{ me { name } }\"}",
		 "{\"query\":\"{ me { name } }\"}"},
		{"graph.example", "application/json", "{\"query\":\"mutation { drop }\"}", NULL},
		{"graph.example", "application/json", "{\"query\":\"{ me }\",\"query\":\"mutation { drop }\"}", NULL},
		{"graph.example", "text/plain", "{\"query\":\"{ me }\"}", NULL},
		{"graph.example", "application/json", "{\"query\":\"{ me(a: \\\"" RIG_PLACEHOLDER "\\\") }\"}", NULL},
		{"tools.example", "application/json",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"search\"}}",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"search\"}}"},
		{"tools.example", "application/json",
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete\"}}", NULL},
	};
	char request[1024];
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		rig_connect(&g, &proxy);
		(void)snprintf(
			request, sizeof(request),
			"POST http://%s/ HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
			cases[i].host, cases[i].host, cases[i].type, strlen(cases[i].body), cases[i].body);
		rig_send(&g, sv_of(request));
		CHECK(g.requests == (cases[i].sent ? 1 : 0));
		CHECK(g.got.n && starts(g.got.p, cases[i].sent ? "HTTP/1.1 200 " : "HTTP/1.1 4"));
		CHECK_STR(g.body.p ? g.body.p : "", cases[i].sent ? cases[i].sent : "");
	}
	/* more than may be collected */
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, "POST http://graph.example/ HTTP/1.1\r\nHost: graph.example\r\nContent-Type: "
				 "application/json\r\nContent-Length: 1048577\r\n\r\n"),
		     "HTTP/1.1 413 "));
	CHECK(g.requests == 0);
	rig_close(&g);
}

static void a_client_is_told_to_continue_after_the_verdict_and_not_before(void)
{
	struct rig g;

	rig_open(&g, policy);
	rig_connect(&g, &proxy);
	CHECK_STR(rig_ask(&g, "POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: "
			      "2\r\nExpect: 100-continue\r\n\r\n"),
		  "HTTP/1.1 100 Continue\r\n\r\n");
	CHECK_STR(rig_seen(&g), "POST http://open.example:80/ body\n");
	CHECK(starts(rig_ask(&g, "hi"), "HTTP/1.1 200 "));
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, "POST http://other.example/ HTTP/1.1\r\nHost: other.example\r\nContent-Length: "
				 "2\r\nExpect: 100-continue\r\n\r\n"),
		     "HTTP/1.1 403 "));
	rig_close(&g);
}

static void an_early_answer_passes_and_ends_the_connection(void)
{
	const char *got;
	struct rig g;

	rig_open(&g, policy);
	g.early = true;
	rig_connect(&g, &proxy);
	got = rig_ask(&g,
		      "POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 100\r\n\r\npart");
	CHECK(starts(got, "HTTP/1.1 200 OK\r\nConnection: close\r\n") && strstr(got, "\r\n\r\nok"));
	CHECK(g.closed);
	CHECK(g.ends == 0 && g.resets == 1);
	rig_close(&g);
}

static void answers_that_are_cut_do_not_look_complete(void)
{
	struct http_response counted = {.status = 200, .body = true, .length = 10},
			     chunked = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	const struct http_response *answers[] = {&counted, &chunked};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	g.silent = true;
	for (i = 0; i < ARRAY_LEN(answers); i++) {
		rig_connect(&g, &proxy);
		(void)rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
		CHECK(g.x && link_respond(g.x, answers[i]) == 0 && link_data(g.x, sv_of("abc")) == 3);
		rig_run(&g);
		CHECK(strstr(g.got.p, "abc"));
		CHECK(link_fail(g.x, GATE_FAILURE_CUT, sv_of("")) == 0);
		rig_run(&g);
		CHECK(g.closed);
		CHECK(!strstr(g.got.p, "\r\n0\r\n") && !strstr(g.got.p, "answer_cut"));
	}
	rig_close(&g);
}

static void a_websocket_passes_where_its_path_is_allowed(void)
{
	static const char ask[] = "GET http://%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
				  "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nSec-WebSocket-Version: 13\r\n\r\n";
	struct http_response opened = {.status = 101, .websocket = true};
	char request[512];
	struct rig g;

	rig_open(&g, policy);
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)snprintf(request, sizeof(request), ask, "open.example/ws", "open.example");
	(void)rig_ask(&g, request);
	CHECK(strstr(rig_seen(&g), " websocket\n"));
	CHECK(g.got.n == 0);
	CHECK(g.x && link_respond(g.x, &opened) == 0);
	rig_run(&g);
	CHECK(starts(g.got.p, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
	/* what is no HTTP any more goes through as it is, be it written like a request */
	(void)rig_ask(&g, "GET /evil HTTP/1.1\r\n\r\n");
	CHECK_STR(g.body.p, "GET /evil HTTP/1.1\r\n\r\n");
	CHECK(g.requests == 1);
	CHECK(link_data(g.x, sv_of("frames")) == 6);
	rig_run(&g);
	CHECK_STR(g.got.p, "frames");
	CHECK(shutdown(g.client, SHUT_WR) == 0);
	rig_run(&g);
	CHECK(g.ends == 1);
	CHECK(link_end(g.x, NULL) == 0);
	rig_run(&g);
	CHECK(g.closed);
	/* not allowed; and an answer that is none */
	(void)snprintf(request, sizeof(request), ask, "read.example/ws", "read.example");
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, request), "HTTP/1.1 403 "));
	CHECK(g.requests == 0);
	g.silent = false;
	g.early = true;
	g.answer.status = 400;
	(void)snprintf(request, sizeof(request), ask, "open.example/ws", "open.example");
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, request), "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"));
	CHECK(g.closed && g.ends == 1);
	/* and never round a rule that looks into bodies */
	(void)snprintf(request, sizeof(request), ask, "tools.example/ws", "tools.example");
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, request), "HTTP/1.1 403 "));
	(void)snprintf(request, sizeof(request), ask, "graph.example/ws?query=%7Bme%7D", "graph.example");
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, request), "HTTP/1.1 403 "));
	CHECK(g.requests == 0);
	rig_close(&g);
}

static void a_reload_ends_bodies_that_its_rules_must_see_whole(void)
{
	struct rig g;

	rig_open(&g, policy);
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g,
		      "POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 100\r\n\r\nhalf");
	CHECK(g.requests == 1 && !g.closed);
	rig_policy(&g,
		   "network: {mode: allowlist, allow: [{host: open.example, ports: [80], graphql: {types: [query]}}]}");
	http_judge_again(&g.relay);
	rig_run(&g);
	CHECK(g.closed && starts(g.got.p, "HTTP/1.1 403 ") && g.resets == 1);
	rig_close(&g);
}

static void a_reload_ends_bodies_whose_beginning_nobody_looked_into(void)
{
	static const struct {
		const char *type, *begin, *rest;
		bool ends, asks; /* at once; with the rest */
	} cases[] = {
		{"application/x-www-form-urlencoded", "a=1&", "_method=DELETE", true, true},
		{"application/x-www-form-urlencoded", "", "a=1&_method=DELETE", false, true},
		{"application/x-www-form-urlencoded", "", "a=1&b=3456789012345", false, false},
		{"application/x-www-form-urlencoded", "a=1&_method=DELETE", "", false,
		 false}, /* all of it went as it was allowed */
		{"application/octet-stream", "", "a=1&_method=DELETE", false, false},
		{"application/octet-stream", "{\"a\":1,", "\"_method\":\"PUT\"}", true,
		 true}, /* there are servers that read it */
	};
	char request[300];
	struct rig g;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_open(&g, "network: {mode: allowlist, allow: [{host: open.example}]}");
		g.silent = true;
		rig_connect(&g, &proxy);
		(void)snprintf(request, sizeof(request),
			       "POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Type: "
			       "%s\r\nContent-Length: %zu\r\n\r\n%s",
			       cases[i].type, strlen(cases[i].begin) + strlen(cases[i].rest), cases[i].begin);
		(void)rig_ask(&g, request);
		CHECK(g.requests == 1 && !g.closed);
		rig_policy(&g, "network: {mode: allowlist, allow: [{host: open.example, methods: [POST]}]}");
		http_judge_again(&g.relay);
		rig_run(&g);
		CHECK(g.closed == cases[i].ends && starts(g.got.p ? g.got.p : "", "HTTP/1.1 403 ") == cases[i].ends);
		if (!g.closed)
			(void)rig_ask(&g, cases[i].rest);
		CHECK(g.closed == cases[i].asks && g.resets == cases[i].asks);
		rig_close(&g);
	}
}

static void a_reload_ends_what_it_forbids_and_nothing_else(void)
{
	struct rig g;

	rig_open(&g, policy);
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
	http_judge_again(&g.relay);
	rig_run(&g);
	CHECK(!g.closed && g.got.n == 0);
	rig_policy(&g, "network: {mode: allowlist, allow: [{host: read.example}]}");
	http_judge_again(&g.relay);
	rig_run(&g);
	CHECK(g.closed && starts(g.got.p, "HTTP/1.1 403 "));
	CHECK(g.resets == 1);
	rig_close(&g);
}

static void a_connection_made_for_one_host_serves_no_other(void)
{
	struct http_origin o = tls_to("open.example");
	struct rig g;

	rig_open(&g, policy);
	rig_connect(&g, &o);
	CHECK(starts(rig_ask(&g, "GET /a HTTP/1.1\r\nHost: open.example\r\n\r\n"), "HTTP/1.1 200 "));
	CHECK_STR(rig_seen(&g), "GET https://open.example:443/a\n");
	CHECK(starts(rig_ask(&g, "GET /a HTTP/1.1\r\nHost: key.example\r\n\r\n"), "HTTP/1.1 4"));
	CHECK_STR(rig_seen(&g), "");
	rig_close(&g);
}

static void neither_side_is_read_faster_than_the_other_takes(void)
{
	AUTO_BUF much = {0};
	struct rig g;
	size_t i;

	buf_init(&much, 8 << 20);
	for (i = 0; i < 4 << 20; i++)
		(void)buf_char(&much, (char)('a' + i % 26));
	rig_open(&g, policy);
	g.hold = g.silent = true;
	rig_connect(&g, &proxy);
	rig_send(&g,
		 sv_of("POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 4194304\r\n\r\n"));
	for (i = 0; i < 64 && send(g.client, much.p, much.n, MSG_NOSIGNAL) > 0; i++)
		rig_run(&g);
	CHECK(g.body.n == LINK_WINDOW);
	rig_close(&g);
}

static const struct check_case cases[] = {
	CASE(requests_pass_or_are_refused_before_egress_sees_them),
	CASE(a_denial_is_what_the_contract_says),
	CASE(the_first_of_each_kind_that_is_allowed_is_told),
		CASE(what_leaves_in_urls_and_headers_has_gone_out),
	CASE(nothing_is_served_when_nothing_can_be_logged),
	CASE(failures_of_egress_are_told_apart),
	CASE(a_placeholder_leaves_nowhere),
	CASE(a_placeholder_is_found_behind_texts_of_any_length),
	CASE(no_byte_of_a_placeholder_in_a_body_leaves),
	CASE(what_only_looks_like_a_placeholder_passes_whole),
	CASE(bodies_are_held_to_graphql_and_mcp),
	CASE(a_client_is_told_to_continue_after_the_verdict_and_not_before),
	CASE(an_early_answer_passes_and_ends_the_connection),
	CASE(answers_that_are_cut_do_not_look_complete),
	CASE(a_websocket_passes_where_its_path_is_allowed),
	CASE(a_reload_ends_what_it_forbids_and_nothing_else),
	CASE(a_reload_ends_bodies_that_its_rules_must_see_whole),
	CASE(a_reload_ends_bodies_whose_beginning_nobody_looked_into),
	CASE(a_connection_made_for_one_host_serves_no_other),
	CASE(neither_side_is_read_faster_than_the_other_takes),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
