/*
 * relay_rig: HTTP sessions of the relay with a client and an egress that are the test's own. The client's end is a
 * socketpair, egress the other end of the link: it writes down what it sees and answers as it is told. No network, no
 * clock.
 */
#ifndef CORDON_TESTS_RELAY_RIG_H
#define CORDON_TESTS_RELAY_RIG_H

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "gate/relay/channel.h"
#include "gate/relay/events.h"
#include "gate/relay/http.h"
#include "gate/relay/relay.h"
#include "policy/net_recent.h"
#include "policy_memory.h"
#include "vault/placeholder_set.h"
#include "wire/wire.h"

#define RIG_PLACEHOLDER "sk-ant-placeholder-0123456789abcdef"
#define RIG_OTHER "ghp_anotherplaceholder9876543210"

struct rig {
	struct loop *loop;
	struct relay relay;
	struct generation now;
	struct policy *old[8]; /* of earlier generations */
	struct ruleset *old_rules[8];
	unsigned n_old;
	int supervisor;
	/* egress */
	struct link *egress;
	struct link_exchange *x; /* the last one */
	struct buf seen;	 /* heads, one per line; "end", "closed" */
	struct buf body;	 /* of all requests */
	size_t requests, ends, resets;
	uint32_t provider;
	bool asked_head;
	bool hold;		     /* egress does not consume */
	bool silent;		     /* egress does not answer by itself */
	bool early;		     /* ... answers before the body is complete */
	struct http_response answer; /* else this, when the request is complete */
	struct sv answer_body;
	enum gate_failure failure;
	bool gone; /* the relay broke the link, or its rules */
	/* client */
	int client;
	bool narrow; /* the next connection holds little on its way to the client */
	struct buf got;
	bool closed;
};

static inline void rig_socketpair(int type, int fds[2])
{
	if (socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
}

static inline void rig_answer(struct rig *g, struct link_exchange *x)
{
	struct http_response r = g->answer;

	if (g->failure) {
		CHECK(link_fail(x, g->failure, sv_of("by the test")) == 0);
		return;
	}
	r.body = r.body && !g->asked_head;
	CHECK(link_respond(x, &r) == 0);
	if (!r.body)
		return;
	CHECK(link_data(x, g->answer_body) == (ssize_t)g->answer_body.n);
	CHECK(link_end(x, NULL) == 0);
}

static inline void rig_on_request(void *user, struct link_exchange *x, const struct link_request *r)
{
	struct rig *g = user;
	uint32_t i;

	g->x = x;
	g->requests++;
	g->provider = r->provider;
	g->asked_head = sv_is(r->head.method, "HEAD");
	(void)buf_printf(&g->seen, "%.*s %s://%.*s:%u%.*s", (int)r->head.method.n, r->head.method.p,
			 r->head.tls ? "https" : "http", (int)r->head.host.n, r->head.host.p, r->head.port,
			 (int)r->head.target.n, r->head.target.p);
	for (i = 0; i < r->head.fields.n; i++)
		(void)buf_printf(&g->seen, " %.*s=%.*s", (int)r->head.fields.v[i].name.n, r->head.fields.v[i].name.p,
				 (int)r->head.fields.v[i].value.n, r->head.fields.v[i].value.p);
	(void)buf_printf(&g->seen, "%s%s%s\n", r->head.body ? " body" : "", r->head.websocket ? " websocket" : "",
			 r->head.expect_continue ? " expect" : "");
	if (!r->head.body && !r->head.websocket)
		g->ends++;
	if (!g->silent && (g->early || (!r->head.body && !r->head.websocket)))
		rig_answer(g, x);
}

static inline void rig_on_data(void *user, struct link_exchange *x, struct sv bytes)
{
	struct rig *g = user;

	(void)buf_sv(&g->body, bytes);
	if (!g->hold)
		link_consume(x, bytes.n);
}

static inline void rig_on_end(void *user, struct link_exchange *x, const struct http_fields *trailers)
{
	struct rig *g = user;
	uint32_t i;

	g->ends++;
	(void)buf_str(&g->seen, "end");
	for (i = 0; i < trailers->n; i++)
		(void)buf_printf(&g->seen, " %.*s=%.*s", (int)trailers->v[i].name.n, trailers->v[i].name.p,
				 (int)trailers->v[i].value.n, trailers->v[i].value.p);
	(void)buf_str(&g->seen, "\n");
	if (!g->silent && !g->early)
		rig_answer(g, x);
}

static inline void rig_on_room(void *user, struct link_exchange *x)
{
	(void)user;
	(void)x;
}

static inline void rig_on_closed(void *user, struct link_exchange *x, bool reset)
{
	struct rig *g = user;

	g->resets += reset;
	if (g->x == x)
		g->x = NULL;
}

static inline void rig_on_gone(void *user)
{
	((struct rig *)user)->gone = true;
}

static inline void rig_on_control_gone(void *user)
{
	(void)user;
}

static inline bool rig_on_message(void *user, struct wire_message *m)
{
	(void)user;
	(void)m;
	return true;
}

static inline void rig_policy(struct rig *g, const char *text)
{
	struct error err;
	struct policy *p = memory_policy(text, NULL, &err);

	if (!p) {
		printf("# %s\n", err.text);
		abort();
	}
	if (g->now.policy) {
		g->old[g->n_old] = g->now.policy;
		g->old_rules[g->n_old++] = g->now.rules;
	}
	g->now.policy = p;
	g->now.rules = net_rules_new(p);
	net_recent_free(g->now.recent);
	g->now.recent = net_recent_new(g->now.rules);
	g->now.number++;
}

static inline void rig_open(struct rig *g, const char *policy)
{
	static const struct link_events egress = {.request = rig_on_request,
						  .data = rig_on_data,
						  .end = rig_on_end,
						  .room = rig_on_room,
						  .closed = rig_on_closed,
						  .gone = rig_on_gone};
	static const struct channel_events control = {.message = rig_on_message, .gone = rig_on_control_gone};
	const struct sv placeholders[] = {sv_of(RIG_PLACEHOLDER), sv_of(RIG_OTHER)},
			owners[] = {sv_of("key"), sv_of("other")};
	int link[2], channel[2];

	*g = (struct rig){
		.client = -1, .answer = {.status = 200, .body = true, .length = 2}, .answer_body = sv_of("ok")};
	buf_init(&g->seen, 1 << 20);
	buf_init(&g->body, 64 << 20);
	buf_init(&g->got, 64 << 20);
	g->loop = loop_new();
	rig_socketpair(SOCK_STREAM, link);
	rig_socketpair(SOCK_SEQPACKET, channel);
	g->supervisor = channel[1];
	rig_policy(g, policy);
	g->relay = (struct relay){.loop = g->loop, .now = &g->now, .max_connections = 1000};
	CHECK(link_new(g->loop, link[0], true, &http_link_events, &g->relay, &g->relay.link) == 0);
	CHECK(link_new(g->loop, link[1], false, &egress, g, &g->egress) == 0);
	CHECK(channel_new(g->loop, channel[0], &control, NULL, &g->relay.control) == 0);
	CHECK(placeholder_set_new(placeholders, owners, 2, &g->relay.placeholders) == 0);
	g->relay.events = relay_events_new(g->loop, g->relay.control);
	CHECK(http_open(&g->relay) == 0);
}

/* Everything that can happen without a further byte from the test. */
static inline void rig_run(struct rig *g)
{
	char room[65536];
	int quiet = 0;
	ssize_t n;

	while (quiet < 8) {
		CHECK(loop_step(g->loop, 0) == 0);
		quiet++;
		while (g->client >= 0 && (n = read(g->client, room, sizeof(room))) >= 0) {
			if (n == 0) {
				g->closed = true;
				break;
			}
			(void)buf_add(&g->got, room, (size_t)n);
			quiet = 0;
		}
	}
}

static inline void rig_hang_up(struct rig *g)
{
	if (g->client >= 0)
		(void)close(g->client);
	g->client = -1;
	rig_run(g);
}

/* A new connection; what was seen and got is forgotten. */
static inline void rig_connect(struct rig *g, const struct http_origin *o)
{
	struct stream *s = NULL;
	int fds[2], few = 4096;

	rig_hang_up(g);
	rig_socketpair(SOCK_STREAM, fds);
	g->client = fds[1];
	if (g->narrow)
		CHECK(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &few, sizeof(few)) == 0);
	g->closed = false;
	g->requests = g->ends = g->resets = 0;
	buf_clear(&g->seen);
	buf_clear(&g->body);
	buf_clear(&g->got);
	g->relay.n_connections++;
	CHECK(stream_new(g->loop, fds[0], NULL, NULL, &s) == 0);
	http_serve(&g->relay, s, o);
}

static inline void rig_send(struct rig *g, struct sv bytes)
{
	ssize_t n;

	while (bytes.n) {
		n = send(g->client, bytes.p, bytes.n, MSG_NOSIGNAL);
		if (n > 0)
			bytes = sv_n(bytes.p + n, bytes.n - (size_t)n);
		else if (g->closed)
			return;
		rig_run(g);
	}
	rig_run(g);
}

/* Sends, and gives what came back since the last call. */
static inline const char *rig_ask(struct rig *g, const char *text)
{
	buf_clear(&g->got);
	buf_clear(&g->seen);
	buf_clear(&g->body);
	rig_send(g, sv_of(text));
	return g->got.p ? g->got.p : "";
}

static inline const char *rig_seen(const struct rig *g)
{
	return g->seen.p ? g->seen.p : "";
}

/* The next event for the log, as text; "" where there is none. */
static inline const char *rig_event(struct rig *g)
{
	static char text[2048];
	struct wire_message m;
	struct gate_event e;

	text[0] = '\0';
	while (!text[0] && wire_receive(g->supervisor, &m) > 0) {
		if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &e) == 0)
			(void)snprintf(text, sizeof(text), "%s %.*s | %.*s | %.*s", e.verdict ? "allow" : "deny",
				       (int)e.subject.n, e.subject.p, (int)e.rule.n, e.rule.p, (int)e.detail.n,
				       e.detail.p);
		wire_message_done(&m);
	}
	return text;
}

static inline void rig_close(struct rig *g)
{
	rig_hang_up(g);
	http_done(&g->relay);
	rig_run(g);
	relay_events_free(g->relay.events);
	channel_free(g->relay.control);
	link_free(g->relay.link);
	link_free(g->egress);
	placeholder_set_free(g->relay.placeholders);
	loop_free(g->loop);
	(void)close(g->supervisor);
	net_recent_free(g->now.recent);
	net_rules_free(g->now.rules);
	policy_free(g->now.policy);
	while (g->n_old) {
		net_rules_free(g->old_rules[--g->n_old]);
		policy_free(g->old[g->n_old]);
	}
	buf_done(&g->seen);
	buf_done(&g->body);
	buf_done(&g->got);
}

#endif
