/*
 * What sessions wait for, and how long. The limits are made small, and far apart from each other, so that a limit that
 * is mistaken for another one shows.
 */
#include "base/cleanup.h"
#include "gate/relay/session.h"
#include "relay_h2_client.h"
#include "relay_rig.h"

enum { SOON = 40, NEVER = 3600 * 1000 };

static const struct http_origin proxy = {.proxy = true}, plain = {.host = "open.example", .port = 80};
static const char open_policy[] =
	"network: {mode: allowlist, allow: [{host: open.example}, {host: get.example, methods: [GET]}]}";

static bool starts(const char *s, const char *with)
{
	return s && strncmp(s, with, strlen(with)) == 0;
}

/* All limits are far away, but for one that a test sets. */
static struct session_limits *open_rig(struct rig *g)
{
	rig_open(g, open_policy);
	g->relay.http->limits = (struct session_limits){NEVER, NEVER, NEVER, NEVER, NEVER, NEVER};
	return &g->relay.http->limits;
}

/* Lets time pass, until the relay has closed. How many milliseconds that were; -1: it has not, within ms. */
static int64_t until_closed(struct rig *g, int64_t ms)
{
	int64_t start, past;

	rig_run(g);
	start = loop_now(g->loop);
	for (past = 0; past < ms && !g->closed; past = loop_now(g->loop) - start) {
		CHECK(loop_step(g->loop, 1) == 0);
		rig_run(g);
	}
	return g->closed ? past : -1;
}

/* It closes, and not before its time. */
static bool closes_in_time(struct rig *g)
{
	int64_t past = until_closed(g, 100 * SOON);

	/* the clock of the loop has been read a little before the timer was set */
	return past >= SOON / 2;
}

/* For a while of less than a limit. Where the machine does not let us run for longer, it may close, but not before its
 * time. */
static void a_little_later(struct rig *g)
{
	int64_t past = until_closed(g, SOON / 4);

	CHECK(past < 0 || past >= SOON / 2);
}

static bool stays_open(struct rig *g)
{
	return until_closed(g, 3 * SOON) < 0;
}

static void a_websocket_does_not_outlive_its_client_on_http2(void)
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
	int64_t end;

	open_rig(&g)->hangup = SOON;
	client_open(&c, &g, &plain);
	g.silent = true;
	CHECK(h2_request(c.h2, &r, NULL, &stream) == 0);
	client_run(&c);
	CHECK(link_respond(g.x, &opened) == 0);
	client_run(&c);
	/* a server that does not end is not waited for longer than that */
	CHECK(h2_end(stream, NULL) == 0);
	client_run(&c);
	CHECK(g.ends == 1 && g.resets == 0);
	for (end = loop_now(g.loop) + 100 * SOON; g.resets == 0 && loop_now(g.loop) < end;) {
		CHECK(loop_step(g.loop, 1) == 0);
		client_run(&c);
	}
	CHECK(g.resets == 1);
	client_close(&c);
	rig_close(&g);
}

static void a_websocket_does_not_outlive_its_client(void)
{
	struct http_response opened = {.status = 101, .websocket = true};
	struct rig g;

	open_rig(&g)->hangup = SOON;
	rig_connect(&g, &proxy);
	g.silent = true;
	(void)rig_ask(&g, "GET http://open.example/w HTTP/1.1\r\nHost: open.example\r\nUpgrade: "
			  "websocket\r\nConnection: Upgrade\r\n"
			  "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nSec-WebSocket-Version: 13\r\n\r\n");
	CHECK(link_respond(g.x, &opened) == 0);
	CHECK(stays_open(&g));
	CHECK(shutdown(g.client, SHUT_WR) == 0);
	CHECK(closes_in_time(&g) && g.relay.n_connections == 0);
	rig_close(&g);
}

static void an_idle_connection_is_closed(void)
{
	struct rig g;

	open_rig(&g)->idle = SOON;
	rig_connect(&g, &proxy);
	CHECK(closes_in_time(&g) && g.got.n == 0);
	rig_connect(&g, &proxy);
	CHECK(starts(rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n"), "HTTP/1.1 200 "));
	buf_clear(&g.got);
	CHECK(closes_in_time(&g) && g.got.n == 0);
	CHECK(g.relay.n_connections == 0);
	rig_close(&g);
}

static void a_head_must_come_in_time_however_it_drips(void)
{
	struct rig g;
	int i;

	open_rig(&g)->head = SOON;
	rig_connect(&g, &proxy);
	CHECK(stays_open(&g)); /* not before its first byte */
	rig_send(&g, sv_of("GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n"));
	for (i = 0; i < 200 && !g.closed; i++) {
		rig_send(&g, sv_of("a: b\r\n"));
		(void)until_closed(&g, SOON / 8);
	}
	CHECK(i < 200 && starts(g.got.p, "HTTP/1.1 408 ") && g.requests == 0);
	rig_close(&g);
}

static void a_body_must_go_on(void)
{
	struct rig g;
	int i;

	open_rig(&g)->progress = SOON;
	rig_connect(&g, &proxy);
	rig_send(&g, sv_of("POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 99\r\n\r\n"));
	for (i = 0; i < 10 && !g.closed; i++) { /* longer than the limit as a whole */
		rig_send(&g, sv_of("x"));
		a_little_later(&g);
	}
	CHECK((g.closed || closes_in_time(&g)) && starts(g.got.p, "HTTP/1.1 408 ") && g.resets == 1);
	rig_close(&g);
}

/* Not the client's fault, nor its time. */
static void a_body_may_wait_for_egress(void)
{
	static char much[1 << 20];
	struct rig g;
	ssize_t n;

	open_rig(&g)->progress = SOON;
	g.hold = true;
	rig_connect(&g, &proxy);
	rig_send(&g,
		 sv_of("POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 9999999\r\n\r\n"));
	do {
		n = send(g.client, much, sizeof(much), MSG_NOSIGNAL);
		rig_run(&g);
	} while (n > 0);
	CHECK(stays_open(&g));
	rig_close(&g);
}

static void a_client_that_does_not_read_is_dropped(void)
{
	static char much[100000];
	char room[4096];
	struct rig g;
	int64_t i;

	open_rig(&g)->progress = SOON;
	g.narrow = g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
	g.answer.length = sizeof(much);
	CHECK(link_respond(g.x, &g.answer) == 0 && link_data(g.x, sv_n(much, sizeof(much))) > 0);
	for (i = 0; i < 100 * SOON && g.relay.n_connections; i++)
		CHECK(loop_step(g.loop, 1) == 0);
	CHECK(g.relay.n_connections == 0 && !g.relay.http->sessions);
	while (read(g.client, room, sizeof(room)) > 0)
		;
	rig_close(&g);
}

static void who_waits_for_an_answer_may_wait(void)
{
	struct session_limits *limits;
	struct rig g;

	limits = open_rig(&g);
	limits->head = limits->idle = limits->progress = limits->hangup = SOON;
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
	CHECK(g.requests == 1 && stays_open(&g));
	limits->answer = SOON;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
	CHECK(closes_in_time(&g) && g.resets >= 1); /* the first one may have gone by now, too */
	rig_close(&g);
}

static void who_hung_up_is_waited_for_only_a_while(void)
{
	struct rig g;

	open_rig(&g)->hangup = SOON;
	g.silent = true;
	rig_connect(&g, &proxy);
	(void)rig_ask(&g, "GET http://open.example/ HTTP/1.1\r\nHost: open.example\r\n\r\n");
	CHECK(shutdown(g.client, SHUT_WR) == 0);
	CHECK(closes_in_time(&g) && g.resets == 1);
	rig_close(&g);
}

static void http2_begins_in_time(void)
{
	struct rig g;

	open_rig(&g)->head = SOON;
	rig_connect(&g, &plain);
	rig_send(&g, sv_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
	CHECK(closes_in_time(&g));
	rig_close(&g);
}

static void an_idle_connection_of_http2_is_closed(void)
{
	struct h2_client c;
	struct rig g;

	open_rig(&g)->idle = SOON;
	client_open(&c, &g, &plain);
	CHECK(starts(client_ask(&c, "GET", "open.example", "/", NULL), "200"));
	CHECK(closes_in_time(&g) && g.relay.n_connections == 0);
	client_close(&c);
	rig_close(&g);
}

static void a_body_of_http2_must_go_on(void)
{
	const struct http_request r = {.method = sv_of("POST"),
				       .host = sv_of("open.example"),
				       .port = 80,
				       .target = sv_of("/"),
				       .body = true,
				       .length = HTTP_LENGTH_UNKNOWN};
	struct h2_client c;
	struct rig g;
	int i;

	open_rig(&g)->progress = SOON;
	client_open(&c, &g, &plain);
	CHECK(h2_request(c.h2, &r, NULL, &c.stream) == 0);
	for (i = 0; i < 10 && !g.closed; i++) {
		CHECK(h2_offer(c.stream, sv_of("x")) == 0);
		client_run(&c);
		a_little_later(&g);
	}
	CHECK((g.closed || closes_in_time(&g)) && g.resets == 1);
	client_close(&c);
	rig_close(&g);
}

static void who_waits_by_http2_may_wait(void)
{
	struct session_limits *limits;
	struct h2_client c;
	struct rig g;

	limits = open_rig(&g);
	limits->idle = limits->progress = SOON;
	g.silent = true;
	client_open(&c, &g, &plain);
	(void)client_ask(&c, "GET", "open.example", "/", NULL);
	CHECK(g.requests == 1 && stays_open(&g));
	client_close(&c);
	rig_close(&g);
}

static struct h2_stream *upload(struct h2_client *c, const char *host)
{
	const struct http_request r = {.method = sv_of("POST"),
				       .host = sv_of(host),
				       .port = 80,
				       .target = sv_of("/"),
				       .body = true,
				       .length = HTTP_LENGTH_UNKNOWN};
	struct h2_stream *s = NULL;

	CHECK(h2_request(c->h2, &r, NULL, &s) == 0);
	c->stream = s;
	client_run(c);
	return s;
}

static void a_refusal_by_http2_is_not_overtaken_by_a_reset(void)
{
	struct h2_client c;
	struct rig g;
	int64_t i;

	open_rig(&g)->linger = SOON;
	client_open(&c, &g, &plain);
	(void)upload(&c, "other.example");
	CHECK(starts(c.log.p, "403") || starts(c.log.p, "421"));
	CHECK(strstr(c.log.p, "end 0") && c.stream); /* the answer is whole, and nothing was reset */
	for (i = 0; i < 100 * SOON && c.stream; i++) {
		CHECK(loop_step(g.loop, 1) == 0);
		client_run(&c);
	}
	CHECK(!c.stream && i > 0);
	/* the connection lives on */
	CHECK(strstr(client_ask(&c, "GET", "open.example", "/", NULL), "200"));
	client_close(&c);
	rig_close(&g);
}

static void what_is_sent_after_the_answer_is_dropped_up_to_a_bound(void)
{
	static char much[1 << 20];
	struct h2_client c;
	struct rig g;
	int i;

	open_rig(&g);
	g.early = true; /* egress answers at once, and the client does not stop */
	client_open(&c, &g, &plain);
	(void)upload(&c, "open.example");
	CHECK(starts(c.log.p, "200") && strstr(c.log.p, "end 0") && c.stream);
	for (i = 0; i < 64 && c.stream; i++) {
		CHECK(h2_offer(c.stream, sv_n(much, sizeof(much))) == 0);
		client_run(&c);
		client_run(&c);
	}
	CHECK(i >= 8 && i < 64 && g.resets <= 1);
	client_close(&c);
	rig_close(&g);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_idle_connection_is_closed),
		CASE(a_websocket_does_not_outlive_its_client_on_http2),
		CASE(a_websocket_does_not_outlive_its_client),
		CASE(a_head_must_come_in_time_however_it_drips),
		CASE(a_body_must_go_on),
		CASE(a_body_may_wait_for_egress),
		CASE(a_client_that_does_not_read_is_dropped),
		CASE(who_waits_for_an_answer_may_wait),
		CASE(who_hung_up_is_waited_for_only_a_while),
		CASE(http2_begins_in_time),
		CASE(an_idle_connection_of_http2_is_closed),
		CASE(a_body_of_http2_must_go_on),
		CASE(who_waits_by_http2_may_wait),
		CASE(a_refusal_by_http2_is_not_overtaken_by_a_reset),
		CASE(what_is_sent_after_the_answer_is_dropped_up_to_a_bound),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
