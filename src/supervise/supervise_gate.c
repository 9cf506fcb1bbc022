#include "supervise/supervise_gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "model/inside.h"

enum { MAX_DENIALS_LOGGED = 500000, USAGE_MAX = 32 * 1024 };

static void on_ready(void *arg)
{
	struct supervise_gate *s = arg;
	struct error ignored = {0};

	/* before the first question: no workload is to be told that a person is asked where there is none */
	if (!ask_somebody(&s->ask))
		gate_nobody(s->req->gate);
	/* PID 1 may have failed already: its socket says so to the supervisor itself */
	(void)s->req->go(s->req->sandbox, &ignored);
}

static void on_event(void *arg, const struct gate_event *g)
{
	struct supervise_gate *s = arg;
	AUTO_FREE char *rule = strndup(g->rule.p, g->rule.n);
	AUTO_FREE char *detail = strndup(g->detail.p, g->detail.n);
	char count[24];
	struct event_field fields[2] = {{.key = "target", .value = g->subject}, {.key = "count", .is_json = 1}};
	struct event e = {.kind = g->verdict ? EVENT_NOTE : EVENT_DENIAL,
			  .domain = (enum event_domain)g->domain,
			  .verdict = g->verdict ? "allow" : "deny",
			  .rule = rule && *rule ? rule : NULL,
			  .message = detail && *detail ? detail : NULL,
			  .fields = fields,
			  .n_fields = g->count > 1 ? 2 : 1};

	(void)snprintf(count, sizeof(count), "%u", g->count);
	fields[1].value = sv_of(count);
	if (g->domain > DOMAIN_INFERENCE)
		e.domain = DOMAIN_NONE;
	if (!g->verdict)
		s->ret->denials += g->count;
	/* what was allowed is always told: nobody can hide it behind denials; nor those of one domain behind those of
	 * another */
	if (g->verdict || s->logged[g->domain == DOMAIN_INFERENCE]++ < MAX_DENIALS_LOGGED)
		s->log(s->arg, &e);
}

static void on_usage(void *arg, const struct gate_usage *u)
{
	struct supervise_gate *s = arg;
	struct json j;
	uint32_t i;

	buf_done(&s->ret->gateway);
	buf_init(&s->ret->gateway, USAGE_MAX);
	json_init(&j, &s->ret->gateway);
	json_open(&j);
	json_kint(&j, "requests", (int64_t)u->requests);
	json_kint(&j, "denied", (int64_t)u->denied);
	json_kint(&j, "bytes_out", (int64_t)u->bytes_out);
	json_kint(&j, "bytes_in", (int64_t)u->bytes_in);
	json_key(&j, "models");
	json_list(&j);
	for (i = 0; i < u->n_models; i++) {
		json_open(&j);
		json_key(&j, "provider");
		json_sv(&j, u->models[i].provider);
		json_key(&j, "model");
		json_sv(&j, u->models[i].model);
		json_kint(&j, "requests", (int64_t)u->models[i].requests);
		json_kint(&j, "input_tokens", (int64_t)u->models[i].input_tokens);
		json_kint(&j, "output_tokens", (int64_t)u->models[i].output_tokens);
		json_kint(&j, "cut_tokens", (int64_t)u->models[i].cut_tokens);
		json_close(&j);
	}
	json_end(&j);
	json_close(&j);
}

/*
 * Nothing opens by it: every way out led through what is gone, and the workload finds its connections cut. What it does
 * without them is not what was asked for, and nobody's result: the supervisor ends it. What ended the run before stays
 * the reason.
 */
static void on_lost(void *arg, const char *role, const char *how)
{
	struct supervise_gate *s = arg;
	char text[128];
	struct event e = {
		.kind = EVENT_SIGNAL, .domain = DOMAIN_NETWORK, .verdict = "deny", .rule = "gateway", .message = text};

	(void)snprintf(text, sizeof(text), "the gateway's %s role ended (%s); the run was ended", role, how);
	s->lost = true;
	if (!s->ret->failed.kind && !s->ret->limit)
		(void)error_set(&s->ret->failed, ERROR_SYSTEM, "%s", text);
	s->log(s->arg, &e);
}

/* "host:port", or "[address]:port". */
static int allow(struct supervise_gate *s, const char *what, struct error *err)
{
	const char *colon = strrchr(what, ':');
	bool bracket = what[0] == '[';
	char host[256];

	(void)snprintf(host, sizeof(host), "%.*s", (int)(colon - what) - 2 * bracket, what + bracket);
	return s->req->policies->allow(s->req->policies->arg, host, (uint16_t)strtoul(colon + 1, NULL, 10), err);
}

static void on_answer(void *arg, uint64_t id, const char *what, bool yes)
{
	struct supervise_gate *s = arg;
	struct event_field field = {.key = "target", .value = sv_of(what)};
	struct event e = {
		.kind = EVENT_NOTE, .domain = DOMAIN_NETWORK, .rule = "network.ask", .fields = &field, .n_fields = 1};
	struct error err = {0};

	if (yes && allow(s, what, &err) < 0)
		yes = false;
	e.verdict = yes ? "allow" : "deny";
	e.message = yes ? "a person allowed it for this run" : err.kind ? err.text : "nobody allowed it";
	s->log(s->arg, &e);
	gate_answer(s->req->gate, id, yes);
}

static void on_ask(void *arg, uint64_t question, struct sv host, uint32_t port)
{
	struct supervise_gate *s = arg;
	char what[300];

	(void)snprintf(what, sizeof(what), memchr(host.p, ':', host.n) ? "[%.*s]:%u" : "%.*s:%u",
		       (int)(host.n < 256 ? host.n : 255), host.p, port);
	ask_add(&s->ask, question, sv_of(what), s->now());
}

static void on_compared(void *arg, uint64_t question, bool same)
{
	const struct supervise_gate *s = arg;

	control_compared(s->control, question, same);
}

static void compare(void *arg, uint64_t question, const struct gate_likeness *theirs)
{
	const struct supervise_gate *s = arg;

	gate_compare(s->req->gate, question, theirs);
}

void supervise_gate_init(struct supervise_gate *s)
{
	static const struct gate_events events = {on_ready, on_event, on_usage, on_lost, on_ask, on_compared};
	int in = s->req->tty_in, out = s->req->tty_out;
	/* what goes into a pipe or a file may be shown there as well, by others */
	bool alone = in >= 0 && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);

	/* nobody but the terminal's carrier may read keys that it carries: one of two readers would stand still */
	ask_init(&s->ask, in >= 0 && out >= 0 ? out : in, alone, on_answer, s);
	if (!s->req->gate)
		return;
	gate_listen_events(s->req->gate, &events, s);
	s->control->compare = compare;
	s->control->compare_arg = s;
}

void supervise_gate_done(struct supervise_gate *s)
{
	ask_done(&s->ask);
}

/* What is dialled comes to the gateway, but the kernel cannot refuse any of it: that is none of the policy's, and still
 * to be known. */
static void tell_unrefused(struct supervise_gate *s, const struct gate_listener *what, size_t n)
{
	struct event e = {.kind = EVENT_NOTE,
			  .domain = DOMAIN_NETWORK,
			  .rule = "network",
			  .message = "this kernel cannot refuse connections that are dialled without a proxy before "
				     "they are made: those that are denied are cut"};
	bool dialled = n == 0;
	size_t i;

	for (i = 0; i < n; i++) {
		dialled = dialled || what[i].kind == GATE_LISTEN_TRANSPARENT;
		if (what[i].kind == GATE_REDIRECTS)
			return;
	}
	if (dialled)
		s->log(s->arg, &e);
}

int supervise_gate_listeners(struct supervise_gate *s, const struct wire_message *m, struct error *err)
{
	struct gate_listener what[GATE_MAX_LISTENERS];
	struct wire_in in;
	size_t i;

	wire_in_init(&in, buf_view(&m->body));
	for (i = 0; i < m->n_fds && i < GATE_MAX_LISTENERS; i++) {
		what[i].kind = wire_get_u32(&in);
		what[i].provider = wire_get_u32(&in);
	}
	if (!s->req->gate || !wire_ok(&in) || m->n_fds > GATE_MAX_LISTENERS || s->ret->started)
		return error_set(err, ERROR_SYSTEM, "sandbox: malformed list of sockets");
	tell_unrefused(s, what, m->n_fds);
	return gate_listen(s->req->gate, s->req->policy, what, m->fds, m->n_fds, err);
}
