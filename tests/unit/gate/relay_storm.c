/*
 * Clients of both versions and egress do, in a random order that is the same each time, all that they can do: ask, stop
 * amid a body, answer early, reset, fail, hang up. Whatever happens, the link stays whole, and nothing is left when all
 * have gone. Run with sanitizers it finds what is used after its end.
 */
#include "relay_rig.h"

#include "base/cleanup.h"
#include "gate/relay/session.h"
#include "http/h2.h"

enum { CLIENTS = 4, EXCHANGES = 64, MUCH = 200000 };

struct client {
	int fd;
	struct h2 *h2; /* NULL: HTTP/1.1 */
	struct h2_stream *streams[H2_MAX_STREAMS];
	int n;
	bool over;
};

struct storm {
	struct rig rig;
	uint32_t seed;
	struct link_exchange *open[EXCHANGES];
	uint32_t n_open;
	bool gone;
	struct client clients[CLIENTS];
	char much[MUCH];
};

static uint32_t dice(struct storm *w, uint32_t n)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return (w->seed >> 8) % n;
}

/* Egress. */

static void on_request(void *user, struct link_exchange *x, const struct link_request *r)
{
	struct storm *w = user;

	(void)r;
	if (w->n_open < EXCHANGES)
		w->open[w->n_open++] = x;
	else
		link_reset(x);
}

static void on_data(void *user, struct link_exchange *x, struct sv bytes)
{
	if (dice(user, 4))
		link_consume(x, bytes.n);
}

static void on_end(void *user, struct link_exchange *x, const struct http_fields *trailers)
{
	(void)user;
	(void)x;
	(void)trailers;
}

static void on_closed(void *user, struct link_exchange *x, bool reset)
{
	struct storm *w = user;
	uint32_t i;

	(void)reset;
	for (i = 0; i < w->n_open; i++)
		if (w->open[i] == x)
			w->open[i] = w->open[--w->n_open];
}

static void on_gone(void *user)
{
	((struct storm *)user)->gone = true;
}

static void answer_something(struct storm *w)
{
	struct http_field field = {sv_of("x-a"), sv_of("b")};
	const struct http_response heads[] = {
		{.status = 101, .websocket = true, .length = HTTP_LENGTH_UNKNOWN},
		{.status = 103, .length = HTTP_LENGTH_UNKNOWN, .fields = {&field, 1}},
		{.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN},
		{.status = 200, .body = true, .length = 5},
		{.status = 204},
	};
	struct http_fields trailers = {&field, 1};
	struct link_exchange *x;
	uint32_t what = dice(w, 10);

	if (!w->n_open)
		return;
	x = w->open[dice(w, w->n_open)];
	if (what < ARRAY_LEN(heads))
		(void)link_respond(x, &heads[what]);
	else if (what == 5)
		(void)link_data(x, sv_n(w->much, 1 + dice(w, MUCH - 1)));
	else if (what == 6)
		(void)link_data(x, sv_n(w->much, 5));
	else if (what == 7)
		(void)link_end(x, dice(w, 2) ? &trailers : NULL);
	else if (what == 8)
		(void)link_fail(x, (enum gate_failure)(1 + dice(w, GATE_FAILURES - 1)), sv_of("by the test"));
	else
		link_reset(x);
}

/* Clients. */

static void client_data(void *user, struct h2_stream *s, struct sv bytes)
{
	(void)user;
	if (bytes.n % 3)
		h2_consume(s, bytes.n);
}

static void client_closed(void *user, struct h2_stream *s, uint32_t code)
{
	struct client *c = user;
	int i;

	(void)code;
	for (i = 0; i < c->n; i++)
		if (c->streams[i] == s)
			c->streams[i] = c->streams[--c->n];
}

static void hang_up(struct client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}

static void say(const struct client *c, const char *p, size_t n)
{
	(void)!send(c->fd, p, n, MSG_NOSIGNAL);
}

static void do_h1(struct storm *w, struct client *c)
{
	static const char *const texts[] = {
		"GET http://open.example/a HTTP/1.1\r\nHost: open.example\r\n\r\n",
		"POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 5\r\n\r\nhello",
		"POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nTransfer-Encoding: "
		"chunked\r\n\r\n5\r\nhello\r\n0\r\nX-B: c\r\n\r\n",
		"POST http://open.example/ HTTP/1.1\r\nHost: open.example\r\nContent-Length: 40000\r\nExpect: "
		"100-continue\r\n\r\n",
		"GET http://no.example/ HTTP/1.1\r\nHost: no.example\r\n\r\n",
		"POST http://graph.example/ HTTP/1.1\r\nHost: graph.example\r\nContent-Type: "
		"application/json\r\nContent-Length: 20\r\n\r\n{\"query\":\"{ meabc }\"",
		"GET http://open.example/w HTTP/1.1\r\nHost: open.example\r\nUpgrade: websocket\r\nConnection: "
		"Upgrade\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
		"HEAD http://open.example/ HTTP/1.0\r\n\r\n",
		RIG_PLACEHOLDER,
	};
	const char *text = texts[dice(w, dice(w, 3) ? 4 : ARRAY_LEN(texts))];
	size_t n = strlen(text), part;

	switch (dice(w, 8)) {
	case 0:
		say(c, w->much, 1 + dice(w, 60000));
		return;
	case 1:
		if (!dice(w, 6))
			(void)shutdown(c->fd, SHUT_WR);
		return;
	case 2:
		if (!dice(w, 10))
			hang_up(c);
		return;
	default:
		break;
	}
	for (; n; text += part, n -= part) {
		part = 1 + dice(w, (uint32_t)n);
		say(c, text, part);
		if (!dice(w, 3))
			CHECK(loop_step(w->rig.loop, 0) == 0);
	}
}

static void ask_h2(struct storm *w, struct client *c)
{
	bool body = dice(w, 2);
	struct http_request r = {.method = sv_of(body ? "POST" : "GET"),
				 .host = sv_of("open.example"),
				 .port = 80,
				 .target = sv_of("/"),
				 .body = body};

	r.length = body ? HTTP_LENGTH_UNKNOWN : 0;
	r.websocket = !body && !dice(w, 4);
	if (c->n < H2_MAX_STREAMS && h2_request(c->h2, &r, NULL, &c->streams[c->n]) == 0)
		c->n++;
}

static void do_h2(struct storm *w, struct client *c)
{
	struct h2_stream *s = c->n ? c->streams[dice(w, (uint32_t)c->n)] : NULL;
	uint32_t what = dice(w, 7);
	char room[16384];
	ssize_t n;

	if (what < 2)
		ask_h2(w, c);
	else if (what == 2 && s)
		(void)h2_offer(s, sv_n(w->much, dice(w, MUCH)));
	else if (what == 3 && s)
		(void)h2_end(s, NULL);
	else if (what == 4 && s && !dice(w, 3))
		h2_reset(s, H2_CANCEL);
	else if (what == 5 && !dice(w, 40))
		say(c, w->much, 50); /* no frame */
	else if (what == 6 && !dice(w, 30))
		hang_up(c);
	while (c->fd >= 0 && (n = h2_output(c->h2, room, sizeof(room))) > 0)
		say(c, room, (size_t)n);
}

static void listen_to(struct storm *w, struct client *c)
{
	char room[32768];
	ssize_t n;

	while (c->fd >= 0 && (n = recv(c->fd, room, sizeof(room), 0)) > 0)
		if (c->h2 && !c->over)
			c->over = h2_input(c->h2, sv_n(room, (size_t)n), loop_now(w->rig.loop)) < 0;
}

static void connect_all(struct storm *w)
{
	static const struct http_origin proxy = {.proxy = true}, plain = {.host = "open.example", .port = 80};
	static const struct h2_events events = {.data = client_data, .closed = client_closed};
	struct h2_config config = {0};
	struct stream *s;
	int i, fds[2];

	for (i = 0; i < CLIENTS; i++) {
		rig_socketpair(SOCK_STREAM, fds);
		w->clients[i] = (struct client){.fd = fds[1]};
		if (i % 2)
			w->clients[i].h2 = h2_new(&config, &events, &w->clients[i]);
		w->rig.relay.n_connections++;
		CHECK(stream_new(w->rig.loop, fds[0], NULL, NULL, &s) == 0);
		http_serve(&w->rig.relay, s, i % 2 ? &plain : &proxy);
	}
}

static void settle(struct storm *w)
{
	int i;

	for (i = 0; i < CLIENTS; i++) {
		hang_up(&w->clients[i]);
		h2_free(w->clients[i].h2);
	}
	for (i = 0; i < 200; i++) {
		answer_something(w);
		CHECK(loop_step(w->rig.loop, 0) == 0);
		if (w->n_open && !dice(w, 4))
			link_reset(w->open[0]);
	}
	while (rig_event(&w->rig)[0])
		;
}

static void one_storm(struct storm *w)
{
	uint32_t i, k;

	connect_all(w);
	for (i = 50 + dice(w, 300); i; i--) {
		struct client *c = &w->clients[dice(w, CLIENTS)];

		if (c->fd >= 0)
			(c->h2 ? do_h2 : do_h1)(w, c);
		for (k = dice(w, 3); k; k--)
			answer_something(w);
		for (k = dice(w, 4); k; k--)
			CHECK(loop_step(w->rig.loop, 0) == 0);
		if (dice(w, 3))
			listen_to(w, c);
		if (!dice(w, 100))
			http_judge_again(&w->rig.relay);
	}
	settle(w);
}

static void whatever_happens_nothing_is_left(void)
{
	static const struct link_events egress = {.request = on_request,
						  .data = on_data,
						  .end = on_end,
						  .room = rig_on_room,
						  .closed = on_closed,
						  .gone = on_gone};
	struct storm *w = calloc(1, sizeof(*w));
	int i, link[2];

	if (!w)
		abort();
	w->seed = 1;
	memset(w->much, 'z', sizeof(w->much));
	rig_open(&w->rig, "network: {mode: allowlist, allow: [{host: open.example}, {host: graph.example, graphql: "
			  "{types: [query]}}]}");
	/* an egress of our own in place of the rig's */
	link_free(w->rig.egress);
	link_free(w->rig.relay.link);
	rig_socketpair(SOCK_STREAM, link);
	CHECK(link_new(w->rig.loop, link[0], true, &http_link_events, &w->rig.relay, &w->rig.relay.link) == 0);
	CHECK(link_new(w->rig.loop, link[1], false, &egress, w, &w->rig.egress) == 0);
	for (i = 0; i < 400 && !w->gone; i++) {
		one_storm(w);
		CHECK(w->rig.relay.n_connections == 0);
		CHECK(!w->rig.relay.http->sessions);
		CHECK(w->rig.relay.http->collected == 0);
		CHECK(w->n_open == 0);
	}
	CHECK(!w->gone);
	rig_close(&w->rig);
	free(w);
}

int main(void)
{
	static const struct check_case cases[] = {CASE(whatever_happens_nothing_is_left)};

	return check_main(cases, ARRAY_LEN(cases));
}
