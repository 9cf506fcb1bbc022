#include "gate/relay/route.h"

#include <stdio.h>

#include "base/text.h"
#include "gate/relay/ask.h"
#include "gate/relay/events.h"
#include "gate/relay/first.h"
#include "gate/relay/http.h"
#include "gate/relay/intercept.h"
#include "gate/relay/socks.h"
#include "gate/relay/synthetic.h"
#include "gate/relay/tunnel.h"
#include "http/h1_write.h"

enum { ANSWER_MAX = 8 * 1024 };

/* "host:port". */
struct place {
	char s[300];
};

static struct sv place_of(const char *host, uint16_t port, struct place *p)
{
	(void)snprintf(p->s, sizeof(p->s), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
	return sv_of(p->s);
}

/* Events. */

static void tell_denied(struct relay *r, const char *host, uint16_t port, const char *rule, const char *why)
{
	struct relay_event e = {.domain = DOMAIN_NETWORK, .rule = sv_of(rule), .detail = sv_of(why)};
	struct place place;

	e.subject = place_of(host, port, &place);
	relay_events_request(r->events, true);
	relay_events_tell(r->events, &e);
}

static void put_rule(const struct ruleset *rules, const struct net_verdict *v, const struct reason *reason, char *out,
		     size_t size)
{
	struct net_where where;

	(void)snprintf(out, size, "%s (%s)", reason->rule, net_rules_where(rules, v, &where));
}

static void tell_verdict(struct relay *r, const char *host, uint16_t port, const struct net_verdict *v,
			 struct reason *reason)
{
	const struct ruleset *rules = r->now->rules;
	struct net_request asked = {.host = sv_of(host), .port = port};
	char rule[512];

	net_rules_reason(rules, &asked, NULL, v, reason);
	put_rule(rules, v, reason, rule, sizeof(rule));
	tell_denied(r, host, port, rule, reason->text);
}

/* What is one kind; place: "host:port". */
static struct sv kind_of(const struct guest *g, const struct place *place, char room[340])
{
	(void)snprintf(room, 340, "%llu %s", (unsigned long long)g->relay->now->number, place->s);
	return sv_of(room);
}

/* So many new places are waiting to be told that this one could not be, and would be reached unsaid. */
static bool log_is_full(const struct guest *g)
{
	struct place place;
	char room[340];

	if (!relay_events_full(g->relay->events))
		return false;
	(void)place_of(g->host, g->port, &place);
	return !relay_events_has_room(g->relay->events, DOMAIN_NETWORK, kind_of(g, &place, room));
}

static void tell_allowed(struct guest *g, const struct net_verdict *v)
{
	const struct ruleset *rules = g->relay->now->rules;
	struct net_request asked = {.host = sv_of(g->host), .port = g->port};
	struct relay_event e = {.domain = DOMAIN_NETWORK, .allow = true};
	char kind[340], rule[512];
	struct place place;
	struct reason reason;

	e.subject = place_of(g->host, g->port, &place);
	e.kind = kind_of(g, &place, kind);
	relay_events_request(g->relay->events, false);
	if (relay_events_count(g->relay->events, e.domain, e.kind))
		return;
	net_rules_reason(rules, &asked, NULL, v, &reason);
	put_rule(rules, v, &reason, rule, sizeof(rule));
	e.rule = sv_of(rule);
	relay_events_tell(g->relay->events, &e);
}

/* Answers. */

static void answer_error(struct guest *g, uint16_t status, const char *code, const char *detail, const char *hint)
{
	AUTO_BUF out = {0};

	buf_init(&out, ANSWER_MAX);
	if (h1_write_error(&out, status, code, "network", detail, hint) < 0 || guest_answer(g, buf_view(&out)) < 0)
		guest_reset(g);
	else
		guest_close(g);
}

static void answer_socks(struct guest *g, enum socks_code code)
{
	AUTO_BUF out = {0};

	buf_init(&out, 64);
	socks_reply(code, &out);
	if (guest_answer(g, buf_view(&out)) < 0)
		guest_reset(g);
	else
		guest_close(g);
}

static enum socks_code socks_code_of(enum gate_failure why)
{
	switch (why) {
	case GATE_FAILURE_POLICY:
	case GATE_FAILURE_COMPRESSED:
	case GATE_FAILURE_ADDRESS:
	case GATE_FAILURE_RANGE:
	case GATE_FAILURE_QUOTA:
		return SOCKS_DENIED;
	case GATE_FAILURE_NAME:
		return SOCKS_NO_HOST;
	case GATE_FAILURE_UNREACHABLE:
		return SOCKS_NO_NETWORK;
	case GATE_FAILURE_REFUSED:
		return SOCKS_NO_LISTENER;
	case GATE_FAILURE_TIMEOUT:
		return SOCKS_EXPIRED;
	default:
		return SOCKS_FAILED;
	}
}

static void fail(struct guest *g, enum gate_failure why, struct sv text)
{
	const struct gate_failure_facts *facts = gate_failure_facts(why);
	struct text_shown shown;
	char detail[1200];

	if (g->answered || g->door == DOOR_DIRECT) {
		guest_reset(g);
	} else if (g->door == DOOR_SOCKS) {
		answer_socks(g, socks_code_of(why));
	} else {
		if (text.n == 0 || sv_is(text, facts->phrase))
			(void)snprintf(detail, sizeof(detail), "%s", facts->phrase);
		else
			(void)snprintf(detail, sizeof(detail), "%s: %s", facts->phrase, text_show(&shown, text));
		answer_error(g, facts->status, facts->code, detail, facts->hint);
	}
}

/* What a client that may speak is told. 0, or -1: the guest is gone. */
static int say_go_on(struct guest *g)
{
	AUTO_BUF out = {0};

	if (g->answered)
		return 0;
	g->answered = true;
	buf_init(&out, 128);
	if (g->door == DOOR_CONNECT)
		(void)buf_str(&out, "HTTP/1.1 200 Connection established\r\n\r\n");
	else if (g->door == DOOR_SOCKS)
		socks_reply(SOCKS_GRANTED, &out);
	if (!buf_failed(&out) && (out.n == 0 || guest_answer(g, buf_view(&out)) == 0))
		return 0;
	guest_reset(g);
	return -1;
}

/* Ways on. */

void route_to_http(struct guest *g, bool tls)
{
	struct http_origin o = {.tls = tls, .port = g->port};
	struct relay *r = g->relay;
	struct stream *s;

	(void)snprintf(o.host, sizeof(o.host), "%s", g->host);
	s = guest_take_stream(g);
	if (s)
		http_serve(r, s, &o);
}

static void refuse(struct guest *g, const char *why)
{
	tell_denied(g->relay, g->host, g->port, "", why);
	guest_reset(g);
}

/* One that cannot be answered in words: it dialled by itself and speaks no HTTP, or was told to go on. */
static void deny_direct(struct guest *g)
{
	struct net_verdict v;
	struct reason reason;

	net_rules_name(g->relay->now->rules, sv_of(g->host), g->port, &v);
	tell_verdict(g->relay, g->host, g->port, &v, &reason);
	guest_reset(g);
}

static void to_tunnel(struct guest *g, bool look)
{
	struct relay *r = g->relay;
	struct tunnel_ends ends = {.id = g->upstream_id, .is_address = g->is_address, .port = g->port, .look = look};
	char host[sizeof(g->host)];
	struct net_verdict v;

	/* The policy may have changed while egress dialled or the client was silent. */
	net_rules_name(r->now->rules, sv_of(g->host), g->port, &v);
	if (!v.allow) {
		deny_direct(g);
		return;
	}
	if (v.way == NET_INSPECT) {
		refuse(g, "the policy has changed: this must be looked into now");
		return;
	}
	if (log_is_full(g)) {
		guest_reset(g);
		return;
	}
	(void)snprintf(host, sizeof(host), "%s", g->host);
	ends.host = host;
	buf_init(&ends.first, 2 * GUEST_BYTES);
	tell_allowed(g, &v);
	ends.client = guest_take_fd(g, &ends.first, &ends.upstream);
	if (ends.client >= 0)
		relay_tunnel_start(r, &ends);
	else
		buf_done(&ends.first);
}

static void look_at_first(struct guest *g);

static void on_call(void *arg, enum gate_failure why, struct sv text, int fd)
{
	struct guest *g = arg;
	bool seen = g->answered; /* so the ClientHello has been judged already */

	if (why != GATE_FAILURE_NONE) {
		fail(g, why, text);
		return;
	}
	g->upstream = fd;
	g->upstream_id = g->call.id;
	if (say_go_on(g) < 0)
		return;
	if (g->way == NET_RAW)
		to_tunnel(g, true);
	else if (seen)
		to_tunnel(g, false);
	else
		look_at_first(g);
}

static void on_dialling(void *arg, unsigned events)
{
	struct guest *g = arg;

	/* A client that only ended its side may still want to hear what the server says. */
	if (events & STREAM_FAILED)
		guest_reset(g);
}

static void dial(struct guest *g)
{
	if (log_is_full(g)) {
		fail(g, GATE_FAILURE_INTERNAL,
		     sv_of("so many places are new that the log has not named them all yet; try again in a few "
			   "seconds"));
		return;
	}
	guest_wait(g, on_dialling);
	relay_call(g->relay->calls, &g->call, sv_of(g->host), g->port, on_call, g);
}

static void on_tls(struct guest *g, const struct hello *hello)
{
	const char *fault = first_name_fault(g->relay->now->rules, hello, g->host, g->is_address, g->port, g->way);
	char words[FIRST_FAULT];

	if (fault)
		refuse(g, first_fault_words(fault, hello, words));
	else if (g->way == NET_INSPECT)
		intercept(g);
	else if (g->upstream >= 0)
		to_tunnel(g, false);
	else
		dial(g);
}

static void on_first(void *arg, unsigned events)
{
	struct guest *g = arg;
	enum first_kind kind;
	struct hello hello;
	int r;

	(void)events;
	while ((kind = first_look(buf_view(&g->first), &hello)) == FIRST_MORE) {
		r = guest_read(g);
		if (r == 0)
			return;
		if (r < 0) {
			if (g->denied)
				deny_direct(g);
			else
				guest_reset(g);
			return;
		}
	}
	if (kind == FIRST_HTTP && (g->denied || g->way == NET_INSPECT || g->port != 443))
		route_to_http(g, false);
	else if (g->denied)
		deny_direct(g);
	else if (kind == FIRST_TLS)
		on_tls(g, &hello);
	else if (kind == FIRST_BAD)
		refuse(g, "the ClientHello cannot be judged");
	else
		refuse(g, g->port == 443 ? "this is not TLS" : "this is neither TLS nor HTTP");
}

static void look_at_first(struct guest *g)
{
	guest_phase(g, on_first);
	on_first(g, STREAM_READ);
}

/* Judging. */

static void on_denied_late(void *arg)
{
	deny_direct(arg);
}

static void deny(struct guest *g, const struct net_verdict *v)
{
	struct reason reason;

	if (v->ask && relay_ask_wait(g))
		return;
	if (g->door == DOOR_DIRECT) {
		g->denied = true;
		guest_phase(g, on_first);
		loop_timer_set(g->relay->loop, &g->timer, ROUTE_DENIED_MS, on_denied_late, g);
		on_first(g, STREAM_READ);
		return;
	}
	tell_verdict(g->relay, g->host, g->port, v, &reason);
	if (g->door == DOOR_SOCKS)
		answer_socks(g, SOCKS_DENIED);
	else
		answer_error(g, 403, "policy_denied", reason.text, reason.hint);
}

/* The host in its one form; for an address that stands for a name, the name. False: it is an address. */
static bool read_host(const struct relay *r, struct sv host, char out[GUEST_HOST])
{
	struct net_host h;
	struct sv name;
	bool named;

	net_host_read(host, &h);
	name = h.n ? sv_n(h.text, h.n) : host;
	named = !h.is_address || (r->synthetic && synthetic_name(r->synthetic, &h.address, &name));
	(void)snprintf(out, GUEST_HOST, "%.*s", (int)name.n, name.p);
	return named;
}

void route_refused(struct relay *r, struct sv host, uint16_t port)
{
	char text[GUEST_HOST];
	struct net_verdict v;
	struct reason reason;

	(void)read_host(r, host, text);
	net_rules_name(r->now->rules, sv_of(text), port, &v);
	/* allowed by now: the policy has changed since */
	if (!v.allow)
		tell_verdict(r, text, port, &v, &reason);
}

void route(struct guest *g, struct sv host, uint16_t port)
{
	struct net_verdict v;

	g->is_address = !read_host(g->relay, host, g->host);
	g->port = port;
	if (!relay_takes_new(g->relay)) {
		fail(g, GATE_FAILURE_INTERNAL, sv_of("nothing can be logged now"));
		return;
	}
	if (port == 0) {
		fail(g, GATE_FAILURE_UNREACHABLE, sv_n("", 0));
		return;
	}
	net_rules_name(g->relay->now->rules, sv_of(g->host), port, &v);
	if (!v.allow) {
		deny(g, &v);
		return;
	}
	g->way = v.way;
	if (v.way == NET_RAW || (v.way == NET_TUNNEL && port == 443 && g->door != DOOR_DIRECT))
		dial(g);
	else if (say_go_on(g) == 0)
		look_at_first(g);
}
