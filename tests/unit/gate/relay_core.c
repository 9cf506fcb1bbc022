/* The ways in: CONNECT, SOCKS, direct dials and DNS, and where they lead. */
#include "relay_world.h"

static void a_tunnel_carries_what_follows_the_right_client_hello(void)
{
	struct world w = world_start(usual_policy);
	int client, up;
	uint64_t id;

	open_tunnel(&w, "plain.test:443", &client, &up, &id);
	CHECK(is_silent(up, 50));
	tunnel_carries(&w, "plain.test", client, up, id);
	world_stop(&w);
}

static void a_client_hello_may_come_byte_by_byte(void)
{
	static const char bytewise[] = "CONNECT A.Wild.Test.:443 HTTP/1.0\r\n\r\n";
	struct world w = world_start(usual_policy);
	AUTO_BUF hello = {0};
	char room[4096];
	uint64_t id;
	int client, up;
	size_t i;

	buf_init(&hello, 4096);
	client_hello("a.wild.test", &hello);
	client = dial("127.0.0.1", w.proxy);
	for (i = 0; i < strlen(bytewise); i++)
		say(client, sv_n(&bytewise[i], 1));
	CHECK_STR(asked(&w, &id), "a.wild.test:443");
	up = give_up(&w, id);
	CHECK(heard(client, established));
	for (i = 0; i < hello.n; i++)
		say(client, sv_n(hello.p + i, 1));
	CHECK(hear(up, room, hello.n) == hello.n && memcmp(room, hello.p, hello.n) == 0);
	(void)close(client);
	CHECK(is_closed(up));
	(void)close(up);
	CHECK(is_over(&w, id));
	world_stop(&w);
}

/* What is sent behind a CONNECT at once, with it. */
static void what_comes_with_the_connect_is_not_lost(void)
{
	struct world w = world_start(usual_policy);
	AUTO_BUF all = {0};
	char room[4096];
	uint64_t id;
	int client, up;
	size_t head;

	buf_init(&all, 8192);
	(void)buf_str(&all, "CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\n\r\n");
	head = all.n;
	client_hello("plain.test", &all);
	client = dial("127.0.0.1", w.proxy);
	say(client, buf_view(&all));
	CHECK_STR(asked(&w, &id), "plain.test:443");
	up = give_up(&w, id);
	CHECK(heard(client, established));
	CHECK(hear(up, room, all.n - head) == all.n - head && memcmp(room, all.p + head, all.n - head) == 0);
	(void)close(client);
	(void)close(up);
	world_stop(&w);
}

static void no_byte_goes_up_before_the_right_name_was_seen(void)
{
	static const char *const names[] = {"other.test", NULL, "xplain.test", "plain.test.evil.test"};
	static const struct sv others[] = {{"GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n", 36},
					   {"SSH-2.0-x\r\n", 11},
					   {"\x16\x03\x01\x00\x00", 5},
					   {"\x80\x2e\x01\x03\x01", 5},
					   {"\x16\x03\x01\x00\x05\x02zzzzzzzzz", 15}};
	struct world w = world_start(usual_policy);
	struct wire_message m;
	struct gate_event e;
	int client, up;
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) + ARRAY_LEN(others); i++) {
		AUTO_BUF bytes = {0};

		buf_init(&bytes, 4096);
		if (i < ARRAY_LEN(names))
			client_hello(names[i], &bytes);
		else
			(void)buf_sv(&bytes, others[i - ARRAY_LEN(names)]);
		open_tunnel(&w, "plain.test:443", &client, &up, &id);
		say(client, buf_view(&bytes));
		CHECK(is_closed(up) && is_closed(client) && is_over(&w, id));
		CHECK(next_event(&w, &m, &e) && e.verdict == 0 && sv_is(e.subject, "plain.test:443") && e.detail.n);
		wire_message_done(&m);
		(void)close(client);
		(void)close(up);
	}
	world_stop(&w);
}

static void a_denied_connect_is_told_in_full_and_asks_nobody(void)
{
	static const char *const targets[] = {"other.test:443", "no.wild.test:443",   "wild.test:443", "plain.test:22",
					      "127.0.0.1:443",  "169.254.169.254:80", "[::1]:443"};
	struct world w = world_start(usual_policy);
	struct wire_message m;
	struct gate_event e;
	const char *answer;
	size_t i;

	for (i = 0; i < ARRAY_LEN(targets); i++) {
		AUTO_FD client = connect_to(&w, targets[i]);

		answer = hear_all(client);
		CHECK_HAS(answer, "HTTP/1.1 403 ");
		CHECK_HAS(answer, "\r\nX-Proxy-Error: blocked-by-allowlist\r\n");
		CHECK_HAS(answer, "\r\nConnection: close\r\n");
		CHECK_HAS(answer, "{\"error\":\"policy_denied\",\"domain\":\"network\",\"detail\":\"");
		CHECK_HAS(answer, "\"hint\":\"");
		CHECK(next_event(&w, &m, &e) && e.verdict == 0 && e.domain == DOMAIN_NETWORK &&
		      sv_is(e.subject, targets[i]) && e.rule.n);
		wire_message_done(&m);
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

static void a_malformed_connect_is_refused(void)
{
	static const char *const heads[] = {
		"CONNECT plain.test:443 HTTP/1.1\r\nHost: other.test:443\r\n\r\n",
		"CONNECT plain.test HTTP/1.1\r\nHost: plain.test\r\n\r\n",
		"CONNECT plain.test:0 HTTP/1.1\r\nHost: plain.test:0\r\n\r\n",
		"CONNECT a@plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\n\r\n",
		"CONNECT plain.test:443 HTTP/1.1\nHost: plain.test:443\n\n",
		"CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test:443\r\nContent-Length: 5\r\n\r\n",
	};
	struct world w = world_start(usual_policy);
	size_t i;

	for (i = 0; i < ARRAY_LEN(heads); i++) {
		AUTO_FD client = dial("127.0.0.1", w.proxy);

		say(client, sv_of(heads[i]));
		CHECK_HAS(hear_all(client), "HTTP/1.1 4");
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

static void failures_of_egress_have_their_status(void)
{
	static const struct {
		enum gate_failure why;
		const char *status, *code;
	} cases[] = {{GATE_FAILURE_NAME, "502", "name_not_resolved"},
		     {GATE_FAILURE_REFUSED, "502", "connection_refused"},
		     {GATE_FAILURE_TIMEOUT, "504", "timeout"},
		     {GATE_FAILURE_ADDRESS, "403", "\"hint\":\"ask the operator to add the address"},
		     {GATE_FAILURE_RANGE, "403", "\"hint\":\"use another server"},
		     {GATE_FAILURE_QUOTA, "429", "budget_used_up"},
		     {GATE_FAILURE_INTERNAL, "503", "gateway_busy"}};
	struct world w = world_start(usual_policy);
	char want[64];
	const char *answer;
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FD client = connect_to(&w, "plain.test:443");

		CHECK_STR(asked(&w, &id), "plain.test:443");
		give_failure(&w, id, cases[i].why);
		answer = hear_all(client);
		(void)snprintf(want, sizeof(want), "HTTP/1.1 %s ", cases[i].status);
		CHECK_HAS(answer, want);
		CHECK_HAS(answer, cases[i].code);
		CHECK_HAS(answer, "a phrase");
	}
	world_stop(&w);
}

static void in_raw_tcp_the_server_may_speak_first(void)
{
	struct world w = world_start(usual_policy);
	uint64_t id;
	int up, client = socks_to(&w, SOCKS_NAME("\7db.test", "\x15\x38"), 5 + 7 + 2);

	CHECK_STR(asked(&w, &id), "db.test:5432");
	up = give_up(&w, id);
	CHECK(socks_code(client) == 0);
	say(up, sv_of("220 ready"));
	CHECK(heard(client, "220 ready"));
	say(client, sv_of("hello"));
	CHECK(heard(up, "hello"));
	(void)close(client);
	CHECK(is_closed(up));
	(void)close(up);
	CHECK(is_over(&w, id));
	world_stop(&w);
}

static void under_a_bound_no_byte_goes_up_unasked(void)
{
	struct world w =
		world_start("network: {mode: allowlist, max_bytes_out: 1M, allow: [{host: db.test, ports: [5432]}]}");
	uint64_t id;
	int up, client = connect_to(&w, "db.test:5432");

	(void)asked(&w, &id);
	up = give_up(&w, id);
	CHECK(heard(client, established));
	say(client, sv_of("0123456789"));
	CHECK(wanted(&w, id) == 10 && is_silent(up, 50));
	/* the server is heard meanwhile */
	say(up, sv_of("hi"));
	CHECK(heard(client, "hi"));
	give_grant(&w, id, 4);
	CHECK(heard(up, "0123"));
	CHECK(wanted(&w, id) == 6 && is_silent(up, 50));
	give_grant(&w, id, 6);
	CHECK(heard(up, "456789"));
	say(client, sv_of("more"));
	CHECK(wanted(&w, id) == 4);
	/* a bound that is lifted does not send what was asked for twice */
	send_policy(&w, "network: {mode: allowlist, allow: [{host: db.test, ports: [5432]}]}");
	CHECK(is_silent(up, 50));
	give_grant(&w, id, 4);
	CHECK(heard(up, "more"));
	say(client, sv_of("free"));
	CHECK(heard(up, "free"));
	send_policy(&w, "network: {mode: allowlist, max_bytes_out: 1M, allow: [{host: db.test, ports: [5432]}]}");
	say(client, sv_of("end"));
	CHECK(wanted(&w, id) == 3);
	give_grant(&w, id, 0);
	CHECK(is_closed(client) && is_closed(up) && is_over(&w, id));
	(void)close(client);
	(void)close(up);
	world_stop(&w);
}

static void a_tunnel_to_an_address_is_judged_again_by_its_name(void)
{
	static const char open[] = "network: {mode: allowlist, allow: [{cidr: 203.0.113.7/32, ports: [443, 8443]}]}";
	static const char closed[] = "network: {mode: allowlist, allow: [{cidr: 203.0.113.7/32, ports: [443, 8443]}], "
				     "deny: [{host: bad.test}]}";
	static const char *const ways[] = {"203.0.113.7:443", "203.0.113.7:8443"};
	AUTO_BUF hello = {0};
	char room[4096];
	size_t i;

	buf_init(&hello, 4096);
	client_hello("bad.test", &hello);
	for (i = 0; i < ARRAY_LEN(ways); i++) {
		struct world w = world_start(open);
		uint64_t id;
		int up, client = connect_to(&w, ways[i]);

		CHECK_STR(asked(&w, &id), ways[i]);
		up = give_up(&w, id);
		CHECK(heard(client, established));
		say(client, buf_view(&hello));
		CHECK(hear(up, room, hello.n) == hello.n);
		send_policy(&w, closed);
		CHECK(is_closed(client) && is_closed(up) && is_over(&w, id));
		(void)close(client);
		(void)close(up);
		world_stop(&w);
	}
}

static void in_raw_tcp_a_client_hello_must_have_the_right_name(void)
{
	struct world w = world_start(usual_policy);
	AUTO_BUF wrong = {0};
	AUTO_BUF right = {0};
	char room[4096];
	uint64_t id;
	int client, up;

	buf_init(&wrong, 4096);
	buf_init(&right, 4096);
	client_hello("other.test", &wrong);
	client_hello("db.test", &right);
	client = connect_to(&w, "db.test:5432");
	(void)asked(&w, &id);
	up = give_up(&w, id);
	CHECK(heard(client, established));
	/* The first bytes alone tell nothing, and do not go up. */
	say(client, sv_n(wrong.p, 100));
	CHECK(is_silent(up, 50));
	say(client, sv_n(wrong.p + 100, wrong.n - 100));
	CHECK(is_closed(up) && is_closed(client) && is_over(&w, id));
	(void)close(client);
	(void)close(up);
	client = connect_to(&w, "db.test:5432");
	(void)asked(&w, &id);
	up = give_up(&w, id);
	CHECK(heard(client, established));
	say(client, buf_view(&right));
	CHECK(hear(up, room, right.n) == right.n && memcmp(room, right.p, right.n) == 0);
	(void)close(client);
	(void)close(up);
	world_stop(&w);
}

static void socks_says_no_by_its_codes(void)
{
	static const struct {
		const char *request;
		size_t n;
		int code;
	} cases[] = {
		{SOCKS_NAME("\12other.test", "\1\xbb"), 5 + 10 + 2, 2},
		{SOCKS_NAME("\7db.test", "\1\xbb"), 5 + 7 + 2, 2},
		{"\5\1\0\1\x7f\0\0\1\1\xbb", 10, 2},
		{"\5\2\0\1\x7f\0\0\1\1\xbb", 10, 7},
		{"\5\3\0\1\x7f\0\0\1\1\xbb", 10, 7},
		{SOCKS_NAME("\12plain\0test", "\1\xbb"), 5 + 10 + 2, -2},
	};
	struct world w = world_start(usual_policy);
	uint64_t id;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FD client = socks_to(&w, cases[i].request, cases[i].n);
		int code = socks_code(client);

		CHECK(cases[i].code == -2 ? code > 0 : code == cases[i].code);
		CHECK(is_closed(client));
	}
	{
		AUTO_FD client = socks_to(&w, SOCKS_NAME("\7db.test", "\x15\x38"), 5 + 7 + 2);

		(void)asked(&w, &id);
		give_failure(&w, id, GATE_FAILURE_REFUSED);
		CHECK(socks_code(client) == 5 && is_closed(client));
	}
	{
		AUTO_FD client = dial("127.0.0.1", w.proxy);

		say(client, sv_n("\4\1\1\xbb\x7f\0\0\1\0", 9));
		CHECK(is_closed(client));
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

static void http_is_served_where_http_is_spoken(void)
{
	static const struct {
		const char *target, *want;
	} cases[] = {{"plain.test:80", "STUB proxy=0 tls=0 inference=0 plain.test:80 GET / HTTP/1.1"},
		     {"get.test:80", "STUB proxy=0 tls=0 inference=0 get.test:80 GET / HTTP/1.1"},
		     {"get.test:443", "STUB proxy=0 tls=0 inference=0 get.test:443 GET / HTTP/1.1"}};
	struct world w = world_start(usual_policy);
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FD client = connect_to(&w, cases[i].target);

		CHECK(heard(client, established));
		say(client, sv_of("GET / HTTP/1.1\r\n"));
		CHECK_STR(hear_all(client), cases[i].want);
	}
	{
		AUTO_FD client = dial("127.0.0.1", w.proxy);

		say(client, sv_of("CON"));
		(void)usleep(20000);
		say(client, sv_of("GET http://x.test/ HTTP/1.1\r\n"));
		CHECK_STR(hear_all(client), "STUB proxy=1 tls=0 inference=0 :0 CONGET http://x.test/ HTTP/1.1");
	}
	{
		AUTO_FD client = dial("127.0.0.1", w.inference);

		say(client, sv_of("POST /v1/messages HTTP/1.1\r\n"));
		CHECK_STR(hear_all(client), "STUB proxy=0 tls=0 inference=1 :0 POST /v1/messages HTTP/1.1");
	}
	{
		AUTO_FD client = connect_to(&w, "get.test:80");

		CHECK(heard(client, established));
		say(client, sv_of("\1\2\3"));
		CHECK(is_closed(client));
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

/* Interception. */

static void mint(struct world *w, const struct tls_ca *ca, const char *host)
{
	AUTO_BUF cert = {0};
	AUTO_BUF key = {0};
	AUTO_BUF body = {0};
	struct wire_message m;
	struct wire_in in;
	struct error err;
	uint32_t id;

	CHECK(next(w->vault, VAULT_MINT, &m));
	wire_in_init(&in, buf_view(&m.body));
	id = wire_get_u32(&in);
	CHECK(sv_is(wire_get_sv(&in), host) && wire_ok(&in));
	wire_message_done(&m);
	buf_init(&cert, 16384);
	buf_init(&key, 16384);
	buf_init(&body, 65536);
	CHECK(!ca || tls_ca_mint(ca, sv_of(host), &cert, &key, &err) == 0);
	wire_put_u32(&body, id);
	wire_put_sv(&body, buf_view(&cert));
	wire_put_sv(&body, buf_view(&key));
	CHECK(wire_send(w->vault, VAULT_MINTED, buf_view(&body), NULL, 0) == 0);
}

static SSL *tls_begin(SSL_CTX *ctx, int fd, const char *name)
{
	SSL *ssl = SSL_new(ctx);

	(void)SSL_set_fd(ssl, fd);
	/* the macro of SSL_set_tlsext_host_name() casts const away */
	(void)SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)name);
	(void)SSL_set1_host(ssl, name);
	SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	(void)SSL_connect(ssl); /* sends the hello */
	(void)fcntl(fd, F_SETFL, 0);
	return ssl;
}

static SSL_CTX *trusting(const struct tls_ca *ca)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	const unsigned char *p;
	AUTO_BUF der = {0};
	struct error err;
	X509 *cert;

	buf_init(&der, 16384);
	CHECK(tls_ca_der(ca, &der, &err) == 0);
	p = (const unsigned char *)der.p;
	cert = d2i_X509(NULL, &p, (long)der.n);
	CHECK(cert && X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), cert));
	X509_free(cert);
	return ctx;
}

static void tls_ends_here_where_rules_look_inside(void)
{
	struct world w = world_start(usual_policy);
	struct tls_ca *ca = NULL;
	struct error err;
	SSL_CTX *ctx;
	SSL *ssl[3];
	int fd[3], i;
	char room[256];

	CHECK(tls_ca_new(&ca, &err) == 0);
	ctx = trusting(ca);
	/* Two who wait for one leaf. */
	for (i = 0; i < 2; i++) {
		fd[i] = connect_to(&w, "get.test:443");
		CHECK(heard(fd[i], established));
		ssl[i] = tls_begin(ctx, fd[i], "get.test");
	}
	mint(&w, ca, "get.test");
	for (i = 0; i < 3; i++) {
		if (i == 2) { /* and one who finds it in the cache */
			fd[i] = connect_to(&w, "get.test:443");
			CHECK(heard(fd[i], established));
			ssl[i] = tls_begin(ctx, fd[i], "get.test");
		}
		CHECK(SSL_connect(ssl[i]) == 1);
		CHECK(SSL_write(ssl[i], "GET /x HTTP/1.1\r\n", 17) == 17);
		memset(room, 0, sizeof(room));
		(void)SSL_read(ssl[i], room, sizeof(room) - 1);
		CHECK_HAS(room, "STUB proxy=0 tls=1 inference=0 get.test:443");
		SSL_free(ssl[i]);
		(void)close(fd[i]);
	}
	CHECK(is_silent(w.vault, 50) && is_silent(w.calls, 0));
	SSL_CTX_free(ctx);
	tls_ca_free(ca);
	world_stop(&w);
}

static void tls_for_another_name_is_not_ended_here(void)
{
	struct world w = world_start(usual_policy);
	AUTO_BUF hello = {0};
	int fd = connect_to(&w, "get.test:443");

	buf_init(&hello, 4096);
	client_hello("plain.test", &hello);
	CHECK(heard(fd, established));
	say(fd, buf_view(&hello));
	CHECK(is_closed(fd) && is_silent(w.vault, 50));
	(void)close(fd);
	/* Nor where the vault refuses, */
	fd = connect_to(&w, "get.test:443");
	buf_clear(&hello);
	client_hello("get.test", &hello);
	CHECK(heard(fd, established));
	say(fd, buf_view(&hello));
	mint(&w, NULL, "get.test");
	CHECK(is_closed(fd));
	(void)close(fd);
	/* nor where it is gone. */
	fd = connect_to(&w, "get.test:443");
	CHECK(heard(fd, established));
	(void)shutdown(w.vault, SHUT_RDWR);
	(void)usleep(50000);
	say(fd, buf_view(&hello));
	CHECK(is_closed(fd));
	(void)close(fd);
	world_stop(&w);
}

/* Names and direct dials. */

static void names_exist_where_the_policy_says_so(void)
{
	static const char *const no[] = {"other.test", "no.wild.test", "wild.test", "plain.test.evil.test", "test"};
	static const char *const yes[] = {"plain.test", "A.b.wild.TEST", "db.test", "get.test"};
	struct world w = world_start(usual_policy);
	unsigned char a[1500], again[1500];
	struct wire_message m;
	struct gate_event e;
	size_t n, i;

	for (i = 0; i < ARRAY_LEN(yes); i++) {
		n = ask_udp(&w, yes[i], 1, a);
		CHECK(n && (a[3] & 15) == 0 && a[7] == 1 && a[n - 4] == 198 && a[n - 3] == 18);
		CHECK(ask_udp(&w, yes[i], 1, again) == n && memcmp(a + n - 4, again + n - 4, 4) == 0);
		/* IPv6 cannot be dialled here: no data, not no name. */
		CHECK(ask_udp(&w, yes[i], 28, a) && (a[3] & 15) == 0 && a[7] == 0);
	}
	for (i = 0; i < ARRAY_LEN(no); i++) {
		CHECK(ask_udp(&w, no[i], 1, a) && (a[3] & 15) == 3 && a[7] == 0);
		CHECK(next_event(&w, &m, &e) && e.verdict == 0 && sv_is(e.subject, no[i]));
		wire_message_done(&m);
	}
	CHECK(is_silent(w.calls, 50));
	world_stop(&w);
}

static void several_queries_share_a_connection(void)
{
	struct world w = world_start(usual_policy);
	AUTO_FD fd = dial("127.0.0.1", w.dns_tcp);
	unsigned char two[600], answer[600];
	size_t n, i;

	n = query("plain.test", 1, two + 2);
	two[0] = 0;
	two[1] = (unsigned char)n;
	memcpy(two + n + 2, two, n + 2);
	two[n + 2 + 2 + 1] = 9; /* another id */
	/* the first whole, the second in two pieces */
	say(fd, sv_n((char *)two, n + 5));
	CHECK(hear(fd, (char *)answer, 2) == 2 && hear(fd, (char *)answer + 2, answer[1]) == answer[1] &&
	      answer[3] == 7);
	say(fd, sv_n((char *)two + n + 5, n - 1));
	CHECK(hear(fd, (char *)answer, 2) == 2 && hear(fd, (char *)answer + 2, answer[1]) == answer[1] &&
	      answer[3] == 9);
	for (i = 0; i < 2; i++)
		answer[i] = 0xff;
	say(fd, sv_n((char *)answer, 2));
	CHECK(is_closed(fd));
	world_stop(&w);
}

static void an_address_that_stands_for_a_name_leads_to_the_name(void)
{
	struct world w = world_start(usual_policy);
	char request[10] = {5, 1, 0, 1, 0, 0, 0, 0, 0x15, 0x38};
	unsigned char a[1500];
	uint64_t id;
	size_t n = ask_udp(&w, "db.test", 1, a);
	int client;

	CHECK(n);
	memcpy(request + 4, a + n - 4, 4);
	client = socks_to(&w, request, sizeof(request));
	CHECK_STR(asked(&w, &id), "db.test:5432");
	(void)close(client);
	/* One that was never given out stands for nothing. */
	request[7]++;
	client = socks_to(&w, request, sizeof(request));
	CHECK(socks_code(client) == 2);
	(void)close(client);
	world_stop(&w);
}

static void a_direct_dial_goes_where_it_dialled(void)
{
	char text[200];
	struct world w = world_start("network: {mode: none}");
	uint64_t id;
	int client, up;

	/* Denied: a client that speaks no HTTP is reset, be it that it waits to be spoken to. */
	client = dial("127.0.0.1", w.direct);
	CHECK(is_reset(client));
	(void)close(client);
	client = dial("127.0.0.1", w.direct);
	say(client, sv_of("\x16\x03\x01"));
	CHECK(is_reset(client));
	(void)close(client);
	client = dial("127.0.0.1", w.direct);
	say(client, sv_of("GET / HTTP/1.1\r\n"));
	(void)snprintf(text, sizeof(text), "STUB proxy=0 tls=0 inference=0 127.0.0.1:%u GET / HTTP/1.1", w.direct);
	CHECK_STR(hear_all(client), text);
	(void)close(client);
	CHECK(is_silent(w.calls, 0));
	(void)snprintf(text, sizeof(text), "network: {mode: allowlist, allow: [{cidr: 127.0.0.77/32, ports: [%u]}]}",
		       w.direct);
	send_policy(&w, text);
	client = dial("127.0.0.77", w.direct);
	(void)snprintf(text, sizeof(text), "127.0.0.77:%u", w.direct);
	CHECK_STR(asked(&w, &id), text);
	up = give_up(&w, id);
	say(up, sv_of("server first"));
	CHECK(heard(client, "server first"));
	say(client, sv_of("client then"));
	CHECK(heard(up, "client then"));
	(void)close(client);
	(void)close(up);
	CHECK(is_over(&w, id));
	/* What egress cannot reach is reset. */
	client = dial("127.0.0.77", w.direct);
	(void)asked(&w, &id);
	give_failure(&w, id, GATE_FAILURE_REFUSED);
	CHECK(is_reset(client));
	(void)close(client);
	client = dial("127.0.0.78", w.direct);
	CHECK(is_reset(client));
	(void)close(client);
	world_stop(&w);
}

static const struct check_case cases[] = {
	CASE(a_tunnel_carries_what_follows_the_right_client_hello),
	CASE(a_client_hello_may_come_byte_by_byte),
	CASE(what_comes_with_the_connect_is_not_lost),
	CASE(no_byte_goes_up_before_the_right_name_was_seen),
	CASE(a_denied_connect_is_told_in_full_and_asks_nobody),
	CASE(a_malformed_connect_is_refused),
	CASE(failures_of_egress_have_their_status),
	CASE(in_raw_tcp_the_server_may_speak_first),
	CASE(in_raw_tcp_a_client_hello_must_have_the_right_name),
	CASE(under_a_bound_no_byte_goes_up_unasked),
	CASE(a_tunnel_to_an_address_is_judged_again_by_its_name),
	CASE(socks_says_no_by_its_codes),
	CASE(tls_for_another_name_is_not_ended_here),
	CASE(names_exist_where_the_policy_says_so),
	CASE(several_queries_share_a_connection),
	CASE(an_address_that_stands_for_a_name_leads_to_the_name),
	/* with the stub only */
	CASE(http_is_served_where_http_is_spoken),
	CASE(tls_ends_here_where_rules_look_inside),
	CASE(a_direct_dial_goes_where_it_dialled),
};

int main(int argc, char **argv)
{
	return world_main(argc, argv, cases, ARRAY_LEN(cases), 3);
}
