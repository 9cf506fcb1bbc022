#include "model/gate.h"

#include <errno.h>

#include "wire/wire.h"

static const struct gate_failure_facts failures[GATE_FAILURES] = {
	[GATE_FAILURE_POLICY] = {403, "policy_denied", "the policy does not allow this",
				 "ask the operator for a policy that does"},
	[GATE_FAILURE_COMPRESSED] = {403, "policy_denied", "the policy does not allow this",
				     "switch the compression of messages off in the client (grpc-encoding: identity)"},
	[GATE_FAILURE_ADDRESS] =
		{403, "policy_denied",
		 "the name leads to a private, local or metadata address, which only a cidr rule opens",
		 "ask the operator to add the address, as a cidr with its ports, to network.allow"},
	[GATE_FAILURE_RANGE] = {403, "policy_denied", "the name leads to an address that network.deny has",
				"use another server, or ask the operator to take the range out of network.deny"},
	[GATE_FAILURE_NAME] = {502, "name_not_resolved", "the name of the server does not resolve", NULL},
	[GATE_FAILURE_REFUSED] = {502, "connection_refused", "the server refuses connections", NULL},
	[GATE_FAILURE_UNREACHABLE] = {502, "unreachable", "the server cannot be reached", NULL},
	[GATE_FAILURE_TIMEOUT] = {504, "timeout", "the server does not answer in time", NULL},
	[GATE_FAILURE_TLS] = {502, "tls_failed", "the TLS handshake with the server failed", NULL},
	[GATE_FAILURE_UNTRUSTED] = {502, "certificate_untrusted", "the server's certificate is not trusted", NULL},
	[GATE_FAILURE_EXPIRED] = {502, "certificate_expired", "the server's certificate is expired or not valid yet",
				  NULL},
	[GATE_FAILURE_WRONG_NAME] = {502, "certificate_wrong_name", "the server's certificate is for another name",
				     NULL},
	[GATE_FAILURE_PROTOCOL] = {502, "bad_answer", "the server's answer is malformed", NULL},
	[GATE_FAILURE_CUT] = {502, "answer_cut", "the server ended the connection amid its answer", NULL},
	[GATE_FAILURE_QUOTA] = {429, "budget_used_up", "a budget of the policy is used up", NULL},
	[GATE_FAILURE_CREDENTIAL] = {502, "credential_missing",
				     "the operator's credential for this server could not be had", NULL},
	[GATE_FAILURE_INTERNAL] = {503, "gateway_busy", "the gateway has no room for this now", NULL},
	[GATE_FAILURE_CROWDED] = {503, "gateway_busy",
				  "as many connections as may be made to this server, or at all, are in use, and none "
				  "became free within ten seconds",
				  "ask again later, or with fewer requests at once"},
};

const struct gate_failure_facts *gate_failure_facts(enum gate_failure f)
{
	return (unsigned)f < GATE_FAILURES && failures[f].status ? &failures[f] : &failures[GATE_FAILURE_INTERNAL];
}

/* A count that says how many of something follow, and may not be more than max. */
static uint32_t get_count(struct wire_in *in, uint32_t max)
{
	uint32_t n = wire_get_u32(in);

	if (n > max)
		in->failed = true;
	return in->failed ? 0 : n;
}

static int finish(const struct wire_in *in)
{
	return wire_ok(in) ? 0 : -EBADMSG;
}

void gate_put_relay_setup(struct buf *b, const struct gate_relay_setup *s)
{
	uint32_t i;

	wire_put_u64(b, s->generation);
	wire_put_u32(b, s->n_listeners);
	for (i = 0; i < s->n_listeners; i++) {
		wire_put_u32(b, s->listeners[i].kind);
		wire_put_u32(b, s->listeners[i].provider);
	}
	wire_put_u32(b, s->n_placeholders);
	for (i = 0; i < s->n_placeholders; i++) {
		wire_put_sv(b, s->placeholders[i]);
		wire_put_sv(b, s->owners[i]);
	}
}

int gate_get_relay_setup(struct sv body, struct gate_relay_setup *ret)
{
	struct gate_relay_setup s = {0};
	struct wire_in in;
	uint32_t i;

	wire_in_init(&in, body);
	s.generation = wire_get_u64(&in);
	s.n_listeners = get_count(&in, GATE_MAX_LISTENERS);
	for (i = 0; i < s.n_listeners; i++) {
		s.listeners[i].kind = wire_get_u32(&in);
		s.listeners[i].provider = wire_get_u32(&in);
		if (s.listeners[i].kind >= GATE_LISTEN_KINDS)
			in.failed = true;
	}
	s.n_placeholders = get_count(&in, GATE_MAX_PLACEHOLDERS);
	for (i = 0; i < s.n_placeholders; i++) {
		s.placeholders[i] = wire_get_sv(&in);
		s.owners[i] = wire_get_sv(&in);
	}
	if (finish(&in) < 0)
		return -EBADMSG;
	*ret = s;
	return 0;
}

void gate_put_egress_setup(struct buf *b, const struct gate_egress_setup *s)
{
	uint32_t i;

	wire_put_u64(b, s->generation);
	wire_put_u32(b, s->n_pins);
	for (i = 0; i < s->n_pins; i++) {
		wire_put_sv(b, s->pins[i].host);
		wire_put_sv(b, s->pins[i].address);
	}
	wire_put_sv(b, s->proxy);
}

int gate_get_egress_setup(struct sv body, struct gate_egress_setup *ret)
{
	struct gate_egress_setup s = {0};
	struct wire_in in;
	uint32_t i;

	wire_in_init(&in, body);
	s.generation = wire_get_u64(&in);
	s.n_pins = get_count(&in, GATE_MAX_PINS);
	for (i = 0; i < s.n_pins; i++) {
		s.pins[i].host = wire_get_sv(&in);
		s.pins[i].address = wire_get_sv(&in);
	}
	s.proxy = wire_get_sv(&in);
	if (finish(&in) < 0)
		return -EBADMSG;
	*ret = s;
	return 0;
}

void gate_put_event(struct buf *b, const struct gate_event *e)
{
	wire_put_u32(b, e->domain);
	wire_put_u32(b, e->verdict);
	wire_put_u32(b, e->count);
	wire_put_sv(b, e->subject);
	wire_put_sv(b, e->rule);
	wire_put_sv(b, e->detail);
}

int gate_get_event(struct sv body, struct gate_event *ret)
{
	struct gate_event e;
	struct wire_in in;

	wire_in_init(&in, body);
	e.domain = wire_get_u32(&in);
	e.verdict = wire_get_u32(&in);
	e.count = wire_get_u32(&in);
	e.subject = wire_get_sv(&in);
	e.rule = wire_get_sv(&in);
	e.detail = wire_get_sv(&in);
	if (finish(&in) < 0 || e.verdict > 1 || e.count == 0)
		return -EBADMSG;
	*ret = e;
	return 0;
}

void gate_put_usage(struct buf *b, const struct gate_usage *u)
{
	uint32_t i;

	wire_put_u64(b, u->bytes_out);
	wire_put_u64(b, u->bytes_in);
	wire_put_u64(b, u->requests);
	wire_put_u64(b, u->denied);
	wire_put_u32(b, u->n_models);
	for (i = 0; i < u->n_models; i++) {
		wire_put_sv(b, u->models[i].provider);
		wire_put_sv(b, u->models[i].model);
		wire_put_u64(b, u->models[i].requests);
		wire_put_u64(b, u->models[i].input_tokens);
		wire_put_u64(b, u->models[i].output_tokens);
		wire_put_u64(b, u->models[i].cut_tokens);
	}
}

int gate_get_usage(struct sv body, struct gate_usage *ret)
{
	struct gate_usage u = {0};
	struct wire_in in;
	uint32_t i;

	wire_in_init(&in, body);
	u.bytes_out = wire_get_u64(&in);
	u.bytes_in = wire_get_u64(&in);
	u.requests = wire_get_u64(&in);
	u.denied = wire_get_u64(&in);
	u.n_models = get_count(&in, sizeof(u.models) / sizeof(u.models[0]));
	for (i = 0; i < u.n_models; i++) {
		u.models[i].provider = wire_get_sv(&in);
		u.models[i].model = wire_get_sv(&in);
		u.models[i].requests = wire_get_u64(&in);
		u.models[i].input_tokens = wire_get_u64(&in);
		u.models[i].output_tokens = wire_get_u64(&in);
		u.models[i].cut_tokens = wire_get_u64(&in);
	}
	if (finish(&in) < 0)
		return -EBADMSG;
	*ret = u;
	return 0;
}

void gate_put_tunnel(struct buf *b, const struct gate_tunnel *t)
{
	wire_put_u64(b, t->id);
	wire_put_u64(b, t->generation);
	wire_put_sv(b, t->host);
	wire_put_u32(b, t->port);
}

int gate_get_tunnel(struct sv body, struct gate_tunnel *ret)
{
	struct gate_tunnel t;
	struct wire_in in;

	wire_in_init(&in, body);
	t.id = wire_get_u64(&in);
	t.generation = wire_get_u64(&in);
	t.host = wire_get_sv(&in);
	t.port = wire_get_u32(&in);
	if (finish(&in) < 0 || t.port == 0 || t.port > 65535 || t.host.n == 0)
		return -EBADMSG;
	*ret = t;
	return 0;
}
