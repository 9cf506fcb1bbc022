#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "gate/relay/channel.h"
#include "gate/relay/events.h"
#include "gate/relay/first.h"
#include "gate/relay/leaves.h"
#include "gate/relay/pipes.h"
#include "model/gate.h"
#include "policy_memory.h"
#include "vault/vault.h"

/* Channels. */

struct ends {
	struct loop *loop;
	struct channel *channel;
	int peer;
	unsigned messages, gone, fds;
	bool refuse, free_it;
};

static bool on_message(void *user, struct wire_message *m)
{
	struct ends *e = user;

	e->messages++;
	e->fds += (unsigned)m->n_fds;
	if (e->free_it) {
		channel_free(e->channel);
		e->channel = NULL;
	}
	return !e->refuse;
}

static void on_gone(void *user)
{
	struct ends *e = user;

	e->gone++;
}

static const struct channel_events events = {.message = on_message, .gone = on_gone};

static void begin(struct ends *e)
{
	int pair[2];

	*e = (struct ends){.loop = loop_new()};
	if (!e->loop || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
		abort();
	e->peer = pair[1];
	CHECK(channel_new(e->loop, pair[0], &events, e, &e->channel) == 0);
}

static void finish(struct ends *e)
{
	channel_free(e->channel);
	(void)close(e->peer);
	loop_free(e->loop);
}

static void steps(struct ends *e, int n)
{
	while (n--)
		(void)loop_step(e->loop, 0);
}

static void what_a_full_socket_does_not_take_arrives_in_order(void)
{
	static char body[1000];
	struct wire_message m;
	struct ends e;
	unsigned n = 0, i;

	begin(&e);
	while (!channel_busy(e.channel) && n < 100000) {
		(void)snprintf(body, sizeof(body), "%u", n);
		CHECK(channel_send(e.channel, (uint16_t)(1 + n % 3), sv_n(body, sizeof(body))) == 0);
		n++;
	}
	CHECK(channel_busy(e.channel) && !channel_idle(e.channel) && n > CHANNEL_BUSY / 1000);
	for (i = 0; i < n; i++) {
		steps(&e, 1);
		CHECK(wire_receive(e.peer, &m) == 1 && m.type == 1 + i % 3 && (unsigned)atoi(m.body.p) == i);
		wire_message_done(&m);
	}
	CHECK(!channel_busy(e.channel) && channel_idle(e.channel));
	finish(&e);
}

static void a_channel_takes_no_more_than_its_maximum(void)
{
	static char body[100000];
	struct ends e;
	int r = 0, n = 0;

	begin(&e);
	while (r == 0 && n++ < 1000)
		r = channel_send(e.channel, 1, sv_n(body, sizeof(body)));
	CHECK(r == -EAGAIN && n < 60);
	finish(&e);
}

static void a_channel_ends_once_and_may_be_freed_at_any_time(void)
{
	struct ends e;

	/* The peer ends. */
	begin(&e);
	CHECK(wire_send(e.peer, 1, sv_n("", 0), NULL, 0) == 0 && shutdown(e.peer, SHUT_WR) == 0);
	steps(&e, 3);
	CHECK(e.messages == 1 && e.gone == 1 && channel_busy(e.channel) &&
	      channel_send(e.channel, 1, sv_n("", 0)) == -EPIPE);
	finish(&e);
	/* It says what it must not. */
	begin(&e);
	e.refuse = true;
	CHECK(wire_send(e.peer, 1, sv_n("", 0), NULL, 0) == 0 && wire_send(e.peer, 1, sv_n("", 0), NULL, 0) == 0);
	steps(&e, 3);
	CHECK(e.messages == 1 && e.gone == 1);
	finish(&e);
	/* It is gone when we speak: told later, not from inside of the call. */
	begin(&e);
	(void)close(e.peer);
	e.peer = -1;
	CHECK(channel_send(e.channel, 1, sv_n("", 0)) == -EPIPE && e.gone == 0);
	steps(&e, 2);
	CHECK(e.gone == 1);
	finish(&e);
	/* Freed by what it tells. */
	begin(&e);
	e.free_it = true;
	CHECK(wire_send(e.peer, 1, sv_n("", 0), &e.peer, 1) == 0 && wire_send(e.peer, 1, sv_n("", 0), NULL, 0) == 0);
	steps(&e, 3);
	CHECK(e.messages == 1 && e.fds == 1 && e.gone == 0);
	finish(&e);
}

/* Events. */

static unsigned count_of(struct ends *e, uint16_t type, struct gate_usage *usage)
{
	struct gate_event g;
	struct wire_message m;
	unsigned n = 0;

	(void)fcntl(e->peer, F_SETFL, O_NONBLOCK);
	for (;;) {
		steps(e, 1);
		if (wire_receive(e->peer, &m) != 1)
			return n;
		if (m.type == type && type == GATE_EVENT && gate_get_event(buf_view(&m.body), &g) == 0)
			n += g.count;
		if (m.type == type && type == GATE_USAGE && gate_get_usage(buf_view(&m.body), usage) == 0)
			n++;
		wire_message_done(&m);
	}
}

/* A supervisor that does not read: its channel is full, kinds have to make room, and what could not be told of them is
 * told as a number. */
static void what_could_not_be_told_is_counted(void)
{
	static char filler[60000];
	struct relay_events *told;
	unsigned n = 0, i;
	char kind[32];
	struct ends e;

	begin(&e);
	told = relay_events_new(e.loop, e.channel);
	while (channel_send(e.channel, 1, sv_n(filler, sizeof(filler))) == 0)
		;
	while (channel_send(e.channel, 1, sv_n(filler, 8)) == 0)
		;
	for (i = 0; i < 3 * RELAY_EVENTS_KINDS; i++) {
		(void)snprintf(kind, sizeof(kind), "kind %u", i);
		relay_events_tell(told,
				  &(struct relay_event){.allow = true, .kind = sv_of(kind), .subject = sv_of("s")});
	}
	for (i = 0; i < 100; i++) {
		n += count_of(&e, GATE_EVENT, NULL);
		relay_events_flush(told);
	}
	CHECK(n == 3 * RELAY_EVENTS_KINDS);
	relay_events_free(told);
	finish(&e);
}

static void no_event_is_lost_however_many_kinds_there_are(void)
{
	struct relay_events *told;
	unsigned n = 0, i;
	char kind[32];
	struct ends e;

	begin(&e);
	told = relay_events_new(e.loop, e.channel);
	/* each twice, so that half of them are only counted when their kind has to make room */
	for (i = 0; i < 4 * RELAY_EVENTS_KINDS; i++) {
		(void)snprintf(kind, sizeof(kind), "kind %u", i / 2);
		relay_events_tell(told,
				  &(struct relay_event){.allow = true, .kind = sv_of(kind), .subject = sv_of("s")});
		if (i % 64 == 0)
			n += count_of(&e, GATE_EVENT, NULL);
	}
	relay_events_flush(told);
	n += count_of(&e, GATE_EVENT, NULL);
	CHECK(n == 4 * RELAY_EVENTS_KINDS);
	relay_events_free(told);
	finish(&e);
}

/* The clock does not move: it is one second for all of them. */
static void kinds_without_end_do_not_fill_the_log(void)
{
	struct relay_events *told;
	unsigned lines = 0, named = 0, sum = 0, i;
	struct gate_event g;
	struct wire_message m;
	char kind[32];
	struct ends e;

	begin(&e);
	(void)fcntl(e.peer, F_SETFL, O_NONBLOCK);
	told = relay_events_new(e.loop, e.channel);
	for (i = 0; i < 20000; i++) {
		(void)snprintf(kind, sizeof(kind), "host%u", i);
		relay_events_tell(told,
				  &(struct relay_event){.allow = true, .kind = sv_of(kind), .subject = sv_of(kind)});
		if (i == 19999)
			relay_events_flush(told); /* the end, when those that are known still are told */
		while (wire_receive(e.peer, &m) == 1) {
			if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &g) == 0) {
				CHECK(g.verdict == 1);
				lines++;
				sum += g.count;
				named += !sv_is(g.subject, "(others)");
			}
			wire_message_done(&m);
		}
		if (i == 19998)
			CHECK(lines == RELAY_EVENTS_ALLOWED);
	}
	steps(&e, 8);
	sum += count_of(&e, GATE_EVENT, NULL);
	CHECK(sum == 20000 && named <= RELAY_EVENTS_ALLOWED + RELAY_EVENTS_NEW);
	relay_events_free(told);
	finish(&e);
}

/* What came is a named event: its number. */
static void note_names(struct ends *e, bool named[], unsigned n)
{
	struct gate_event g;
	struct wire_message m;
	unsigned i;

	for (steps(e, 1); wire_receive(e->peer, &m) == 1; steps(e, 1)) {
		if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &g) == 0 &&
		    sv_starts(g.subject, "host")) {
			i = (unsigned)strtoul(g.subject.p + 4, NULL, 10);
			CHECK(i < n);
			named[i % n] = true;
		}
		wire_message_done(&m);
	}
}

/* How many of them came as one, and how many in all, by domain. */
static void note_denials(struct ends *e, bool named[], unsigned n, uint64_t count[2])
{
	struct gate_event g;
	struct wire_message m;

	for (steps(e, 1); wire_receive(e->peer, &m) == 1; steps(e, 1)) {
		if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &g) == 0 && !g.verdict) {
			count[g.domain == DOMAIN_INFERENCE] += g.count;
			if (sv_starts(g.subject, "evil"))
				named[(unsigned)strtoul(g.subject.p + 4, NULL, 10) % n] = true;
		}
		wire_message_done(&m);
	}
}

/* The clock does not move: it is one second for all of them. */
static void a_flood_of_denials_hides_no_host_and_no_model(void)
{
	enum { NAMES = 5000, EVIL = 200 };
	static bool named[2 * EVIL];
	uint64_t count[2] = {0};
	struct relay_events *told;
	char name[32];
	struct ends e;
	unsigned i;

	begin(&e);
	(void)fcntl(e.peer, F_SETFL, O_NONBLOCK);
	told = relay_events_new(e.loop, e.channel);
	for (i = 0; i < NAMES; i++) {
		/* names, and one host by ever other paths */
		(void)snprintf(name, sizeof(name), "n%u.test", i);
		relay_events_tell(
			told, &(struct relay_event){.domain = DOMAIN_NETWORK, .lookup = true, .subject = sv_of(name)});
		relay_events_tell(told, &(struct relay_event){.domain = DOMAIN_NETWORK,
							      .kind = sv_of("noise.test"),
							      .subject = sv_of(name)});
		if (i % 100 == 0)
			note_denials(&e, named, 2 * EVIL, count);
	}
	for (i = 0; i < 2 * EVIL; i++) {
		(void)snprintf(name, sizeof(name), "evil%u", i);
		relay_events_tell(told, &(struct relay_event){.domain = i < EVIL ? DOMAIN_NETWORK : DOMAIN_INFERENCE,
							      .kind = sv_of(name),
							      .subject = sv_of(name)});
		note_denials(&e, named, 2 * EVIL, count);
	}
	relay_events_flush(told);
	for (i = 0; i < 20; i++)
		note_denials(&e, named, 2 * EVIL, count);
	for (i = 0; i < 2 * EVIL; i++)
		CHECK(named[i]);
	CHECK(count[false] == 2 * NAMES + EVIL && count[true] == EVIL);
	relay_events_free(told);
	finish(&e);
}

static void a_kind_that_has_room_is_named_however_much_noise_there_is(void)
{
	enum { HOSTS = 6000 };
	static bool let[HOSTS], named[HOSTS];
	struct relay_events *told;
	unsigned i, full = 0;
	char kind[32];
	struct ends e;

	begin(&e);
	(void)fcntl(e.peer, F_SETFL, O_NONBLOCK);
	told = relay_events_new(e.loop, e.channel);
	for (i = 0; i < HOSTS; i++) {
		(void)snprintf(kind, sizeof(kind), "host%u", i);
		let[i] = relay_events_has_room(told, DOMAIN_NETWORK, sv_of(kind));
		full += !let[i];
		CHECK(relay_events_full(told) == !let[i]);
		if (let[i])
			relay_events_tell(told, &(struct relay_event){.domain = DOMAIN_NETWORK,
								      .allow = true,
								      .kind = sv_of(kind),
								      .subject = sv_of(kind)});
		/* those that wait may go on, and make nobody forget them */
		(void)snprintf(kind, sizeof(kind), "host%u", i % 1000);
		CHECK(i >= 2000 || relay_events_has_room(told, DOMAIN_NETWORK, sv_of(kind)));
		if (i < 2000)
			relay_events_tell(told, &(struct relay_event){.domain = DOMAIN_NETWORK,
								      .allow = true,
								      .kind = sv_of(kind),
								      .subject = sv_of(kind)});
		if (i % 2000 == 1999)
			relay_events_flush(told); /* as time would */
		note_names(&e, named, HOSTS);
	}
	relay_events_flush(told);
	for (i = 0; i < 20; i++)
		note_names(&e, named, HOSTS);
	CHECK(full > 0 && full < HOSTS - 2 * RELAY_EVENTS_NEW);
	for (i = 0; i < HOSTS; i++)
		CHECK(let[i] == named[i]);
	relay_events_free(told);
	finish(&e);
}

static void texts_of_events_cannot_fake_anything(void)
{
	struct relay_events *told;
	struct gate_event g;
	struct wire_message m;
	struct ends e;
	char longest[5000];

	begin(&e);
	told = relay_events_new(e.loop, e.channel);
	memset(longest, 'x', sizeof(longest));
	relay_events_tell(
		told, &(struct relay_event){.subject = sv_of("a\n\x1b[2J"), .detail = sv_n(longest, sizeof(longest))});
	CHECK(wire_receive(e.peer, &m) == 1 && gate_get_event(buf_view(&m.body), &g) == 0);
	CHECK(sv_is(g.subject, "a\\x0a\\x1b[2J") && g.detail.n < RELAY_EVENTS_TEXT + 10 && g.rule.n == 0);
	wire_message_done(&m);
	relay_events_free(told);
	finish(&e);
}

static void usage_adds_up_and_is_bounded(void)
{
	struct relay_events *told;
	struct gate_usage u = {0};
	struct ends e;
	unsigned i;

	begin(&e);
	told = relay_events_new(e.loop, e.channel);
	for (i = 0; i < 100; i++)
		relay_events_request(told, i % 2);
	relay_events_bytes(told, 5, 7);
	relay_events_bytes(told, 5, UINT64_MAX);
	relay_events_flush(told);
	/* the views are of the message: look before the next one */
	(void)fcntl(e.peer, F_SETFL, O_NONBLOCK);
	{
		struct wire_message m;

		CHECK(wire_receive(e.peer, &m) == 1 && m.type == GATE_USAGE &&
		      gate_get_usage(buf_view(&m.body), &u) == 0);
		wire_message_done(&m);
	}
	CHECK(u.n_models == 0 && u.requests == 100 && u.denied == 50 && u.bytes_out == 10 && u.bytes_in == UINT64_MAX);
	relay_events_free(told);
	finish(&e);
}

/* First bytes. */

static struct hello hello_of(const char *name, bool ech)
{
	struct hello h = {.ech = ech};

	(void)snprintf(h.name, sizeof(h.name), "%s", name);
	return h;
}

static void a_name_must_be_the_hosts_own(void)
{
	static const char text[] =
		"network: {mode: public, allow: [{host: get.test, methods: [GET]}], deny: [{host: no.test}]}";
	struct error err;
	struct policy *p = memory_policy(text, NULL, &err);
	struct ruleset *rules = net_rules_new(p);
	static const struct {
		const char *name, *host;
		bool ech, is_address, fine;
		enum net_way way;
	} cases[] = {
		{"a.test", "a.test", false, false, true, NET_TUNNEL},
		{"a.test", "a.test", true, false, true, NET_TUNNEL}, /* a dummy, or this server's own */
		{"b.test", "a.test", true, false, false, NET_TUNNEL},
		{"b.test", "a.test", false, false, false, NET_INSPECT},
		{"", "a.test", false, false, false, NET_TUNNEL},
		{"", "a.test", false, false, false, NET_RAW},
		{"xa.test", "a.test", false, false, false, NET_TUNNEL},
		/* an address has no name to compare with */
		{"", "192.0.2.1", false, true, true, NET_TUNNEL},
		{"", "192.0.2.1", true, true, false, NET_TUNNEL},
		{"a.test", "192.0.2.1", false, true, true, NET_TUNNEL},
		{"no.test", "192.0.2.1", false, true, false, NET_TUNNEL},
		{"get.test", "192.0.2.1", false, true, false, NET_TUNNEL},
		{"a.test", "192.0.2.1", false, true, false, NET_INSPECT},
		{"", "192.0.2.1", false, true, true, NET_INSPECT},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct hello h = hello_of(cases[i].name, cases[i].ech);

		if (!first_name_fault(rules, &h, cases[i].host, cases[i].is_address, 443, cases[i].way) !=
		    cases[i].fine) {
			printf("# case %zu\n", i);
			CHECK(false);
		}
	}
	net_rules_free(rules);
	policy_free(p);
}

static void the_first_byte_tells_most(void)
{
	struct hello h;

	CHECK(first_look(sv_n("", 0), &h) == FIRST_MORE && first_look(sv_of("G"), &h) == FIRST_HTTP);
	CHECK(first_look(sv_of("g"), &h) == FIRST_OTHER && first_look(sv_of("\x05"), &h) == FIRST_OTHER);
	CHECK(first_look(sv_of("\x16"), &h) == FIRST_MORE && first_look(sv_of("\x16\x03"), &h) == FIRST_MORE);
	CHECK(first_look(sv_of("\x16\x04"), &h) != FIRST_MORE &&
	      first_look(sv_n("\x16\x03\x01\x00\x00", 5), &h) == FIRST_BAD);
}

/* Pipes. */

static void pipes_are_bounded_and_used_again(void)
{
	struct pipe_pair v[PIPES_MAX], more = {-1, -1};
	struct pipes p = {0};
	unsigned i;

	for (i = 0; i < PIPES_MAX; i++)
		CHECK(pipes_take(&p, &v[i]) == 0);
	CHECK(pipes_take(&p, &more) == -EMFILE);
	for (i = 0; i < PIPES_MAX; i++)
		pipes_give(&p, &v[i], i != 0);
	pipes_give(&p, &more, true);
	CHECK(p.n == PIPES_KEPT && p.taken == 0 && v[5].out == -1);
	CHECK(pipes_take(&p, &more) == 0 && p.n == PIPES_KEPT - 1);
	pipes_give(&p, &more, true);
	pipes_done(&p);
	CHECK(p.n == 0);
}

/* Leaves. */

struct waiter {
	struct relay_leaf_wait wait;
	unsigned answers;
	struct waiter *cancels;
};

static void on_leaf(void *arg, const struct tls_leaf *leaf)
{
	struct waiter *w = arg;

	CHECK(!leaf);
	w->answers++;
	if (w->cancels)
		relay_leaf_cancel(&w->cancels->wait);
}

static void waiters_for_a_leaf_are_answered_once_each(void)
{
	struct waiter a = {0}, b = {0}, c = {0};
	struct relay_leaves *leaves = NULL;
	struct loop *loop = loop_new();
	struct wire_message m;
	AUTO_BUF body = {0};
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 &&
	      fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0);
	CHECK(relay_leaves_new(loop, pair[0], &leaves) == 0);
	a.cancels = &b;
	CHECK(relay_leaf_wait(leaves, &a.wait, sv_of("h.test"), on_leaf, &a) == 0 &&
	      relay_leaf_wait(leaves, &b.wait, sv_of("h.test"), on_leaf, &b) == 0 &&
	      relay_leaf_wait(leaves, &c.wait, sv_of("h.test"), on_leaf, &c) == 0);
	/* one order for three */
	CHECK(wire_receive(pair[1], &m) == 1 && m.type == VAULT_MINT);
	wire_message_done(&m);
	(void)fcntl(pair[1], F_SETFL, O_NONBLOCK);
	CHECK(wire_receive(pair[1], &m) == -EAGAIN);
	wire_message_done(&m);
	buf_init(&body, 64);
	wire_put_u32(&body, 1);
	wire_put_sv(&body, sv_of("no certificate"));
	wire_put_sv(&body, sv_of("no key"));
	/* twice, the second for nobody */
	CHECK(wire_send(pair[1], VAULT_MINTED, buf_view(&body), NULL, 0) == 0 &&
	      wire_send(pair[1], VAULT_MINTED, buf_view(&body), NULL, 0) == 0);
	(void)loop_step(loop, 100);
	CHECK(a.answers == 1 && b.answers == 0 && c.answers == 1);
	/* The vault goes: those who wait hear it, and others need not wait. */
	CHECK(relay_leaf_wait(leaves, &c.wait, sv_of("i.test"), on_leaf, &c) == 0);
	(void)close(pair[1]);
	(void)loop_step(loop, 100);
	CHECK(c.answers == 2 && relay_leaf_wait(leaves, &c.wait, sv_of("j.test"), on_leaf, &c) < 0);
	relay_leaves_free(leaves);
	loop_free(loop);
}

static const struct check_case cases[] = {
	CASE(what_a_full_socket_does_not_take_arrives_in_order),
	CASE(a_channel_takes_no_more_than_its_maximum),
	CASE(a_channel_ends_once_and_may_be_freed_at_any_time),
	CASE(no_event_is_lost_however_many_kinds_there_are),
	CASE(what_could_not_be_told_is_counted),
	CASE(kinds_without_end_do_not_fill_the_log),
	CASE(a_flood_of_denials_hides_no_host_and_no_model),
	CASE(a_kind_that_has_room_is_named_however_much_noise_there_is),
	CASE(texts_of_events_cannot_fake_anything),
	CASE(usage_adds_up_and_is_bounded),
	CASE(a_name_must_be_the_hosts_own),
	CASE(the_first_byte_tells_most),
	CASE(pipes_are_bounded_and_used_again),
	CASE(waiters_for_a_leaf_are_answered_once_each),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
