#include "gate/egress/egress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/secret_memory.h"
#include "gate/egress/exchange.h"
#include "gate/egress/pool.h"
#include "gate/egress/tunnel.h"
#include "http/h1.h"
#include "policy/net_carry.h"
#include "vault/vault.h"

enum { USAGE_EVERY = 1000, PATIENCE = 2000 };

void egress_stop(struct egress *e, int status)
{
	e->exit_status = status;
	loop_stop(e->loop);
}

static void add(uint64_t *to, uint64_t n)
{
	*to = *to > UINT64_MAX - n ? UINT64_MAX : *to + n;
}

/* Names are printable (endpoint.h), so they need no escapes. Those that there is no row for share the last. */
static void put_row(void *ctx, const struct budget_row *r)
{
	struct gate_usage *u = ctx;
	const uint32_t last = ARRAY_LEN(u->models) - 1;
	uint32_t i = u->n_models < last ? u->n_models : last;

	if (!r->model)
		return;
	u->models[i].provider = i < last ? sv_of(r->provider) : sv_n("", 0);
	u->models[i].model = sv_of(i < last ? r->model : "(other)");
	add(&u->models[i].requests, r->requests);
	add(&u->models[i].input_tokens, r->tokens.input);
	add(&u->models[i].input_tokens, r->tokens.cache_read);
	add(&u->models[i].input_tokens, r->tokens.cache_write);
	add(&u->models[i].output_tokens, r->tokens.output);
	add(&u->models[i].cut_tokens, r->tokens.cut);
	u->n_models = i + 1;
}

static void tell_usage(struct egress *e)
{
	struct gate_usage u = {
		.bytes_out = e->quota.out, .bytes_in = e->quota.in, .requests = e->requests, .denied = e->denied};
	AUTO_BUF body = {0};

	buf_init(&body, WIRE_MAX_BODY);
	budget_report(e->budget, put_row, &u);
	gate_put_usage(&body, &u);
	/* a supervisor that does not read gets the next one: these are totals */
	if (!buf_failed(&body))
		(void)wire_send(e->control, GATE_USAGE, buf_view(&body), NULL, 0);
}

static void on_usage(void *arg)
{
	tell_usage(arg);
}

void egress_changed(struct egress *e)
{
	if (!loop_timer_armed(&e->tell_usage))
		loop_timer_set(e->loop, &e->tell_usage, USAGE_EVERY, on_usage, e);
}

static void on_over_quota(void *arg)
{
	struct egress *e = arg;

	tunnels_review(e->tunnels);
	exchanges_review(e);
}

static void counted(struct egress *e)
{
	if (quota_used_up(&e->quota))
		loop_task_post(e->loop, &e->over_quota, on_over_quota, e);
	egress_changed(e);
}

void egress_count_out(struct egress *e, uint64_t bytes)
{
	quota_sent(&e->quota, bytes);
	counted(e);
}

bool egress_may_send(struct egress *e, uint64_t bytes)
{
	if (!quota_take(&e->quota, bytes))
		return false;
	counted(e);
	return true;
}

void egress_spend(struct egress *e, uint64_t bytes)
{
	quota_spend(&e->quota, bytes);
	counted(e);
}

static void on_patience(void *arg)
{
	exchanges_granted(arg);
}

void egress_follow(struct egress *e, struct generation *g)
{
	struct generation *old = e->now;

	e->now = g;
	if (e->vault >= 0 && generation_needs_grants(g))
		loop_timer_set(e->loop, &e->patience, PATIENCE, on_patience, e);
	quota_follow(&e->quota, g->policy);
	tunnels_review(e->tunnels);
	exchanges_review(e);
	pool_review(e->pool);
	generation_unref(old);
}

static int take_policy(struct egress *e, const struct wire_message *m)
{
	struct generation *g;
	struct wire_in in;
	uint64_t number;
	struct error err;

	wire_in_init(&in, buf_view(&m->body));
	number = wire_get_u64(&in);
	if (m->type != GATE_POLICY || !wire_ok(&in) || m->n_fds != 1)
		return -1;
	if (number <= e->now->number)
		return 0; /* it was overtaken */
	if (generation_read(m->fds[0], number, e->now, &g, &err) < 0)
		return -1;
	if (!net_carry(e->now->rules, e->now->budgets, g->rules, g->budgets, (uint64_t)loop_now(e->loop) * 1000000)) {
		generation_unref(g);
		return -1;
	}
	egress_follow(e, g);
	return 0;
}

/* Takes one message off a socket; false: there is none now. What ends a socket ends the program, with that status. */
static bool next(struct egress *e, int fd, struct wire_message *m)
{
	int r = wire_receive(fd, m);

	if (r > 0)
		return true;
	if (r != -EAGAIN)
		egress_stop(e, r == 0 ? 0 : 1);
	wire_message_done(m);
	return false;
}

static void on_control(void *arg, unsigned events)
{
	struct egress *e = arg;
	struct wire_message m;

	(void)events;
	while (next(e, e->control, &m)) {
		if (take_policy(e, &m) < 0)
			egress_stop(e, 1);
		wire_message_done(&m);
	}
}

static void on_calls(void *arg, unsigned events)
{
	struct egress *e = arg;
	struct wire_message m;

	if (events & LOOP_WRITE)
		tunnels_writable(e->tunnels);
	while ((events & LOOP_READ) && next(e, e->calls, &m)) {
		if (tunnels_message(e->tunnels, &m) < 0)
			egress_stop(e, 1);
		wire_message_done(&m);
	}
}

static void vault_is_gone(struct egress *e)
{
	loop_watch_remove(&e->on_vault);
	(void)close(e->vault);
	e->vault = -1;
	loop_timer_cancel(&e->patience);
	exchanges_granted(e);
}

static void on_vault(void *arg, unsigned events)
{
	struct egress *e = arg;
	struct wire_message m;
	int r;

	(void)events;
	while (e->vault >= 0 && (r = wire_receive(e->vault, &m)) != -EAGAIN) {
		if (r > 0 && grants_message(&e->grants, &m) < 0) {
			/* the old ones must not stay in force unsaid */
			wire_message_done(&m);
			egress_stop(e, 1);
			return;
		}
		wire_message_done(&m);
		if (r <= 0) {
			vault_is_gone(e);
		} else if (m.type == VAULT_GRANTS) {
			exchanges_renew(e); /* before any of them is sent */
			exchanges_granted(e);
		}
	}
}

/* The last words are not to be lost: a supervisor that is there reads them. */
static void wait_for_reader(const struct egress *e)
{
	int flags = fcntl(e->control, F_GETFL);

	if (flags >= 0)
		(void)fcntl(e->control, F_SETFL, flags & ~O_NONBLOCK);
}

int egress_run(struct egress *e)
{
	if (loop_watch_add(e->loop, &e->on_control, e->control, LOOP_READ, on_control, e) < 0 ||
	    loop_watch_add(e->loop, &e->on_calls, e->calls, LOOP_READ | LOOP_WRITE, on_calls, e) < 0 ||
	    (e->vault >= 0 && loop_watch_add(e->loop, &e->on_vault, e->vault, LOOP_READ, on_vault, e) < 0) ||
	    wire_send(e->control, GATE_READY, sv_n("", 0), NULL, 0) < 0)
		return 1;
	if (loop_run(e->loop) < 0)
		return 1;
	tunnels_count(e->tunnels);
	exchanges_free(e); /* what is under way counts too */
	wait_for_reader(e);
	events_flush(e->events);
	tell_usage(e);
	return e->exit_status;
}

void egress_done(struct egress *e)
{
	loop_watch_remove(&e->on_control);
	loop_watch_remove(&e->on_calls);
	loop_watch_remove(&e->on_vault);
	exchanges_free(e);
	link_free(e->link);
	pool_free(e->pool);
	tunnels_free(e->tunnels);
	if (e->loop)
		(void)loop_step(e->loop, 0); /* connections let go of their memory at the end of an iteration */
	h1_recent_free(e->recent);
	resolver_free(e->resolver);
	tls_client_free(e->tls);
	events_free(e->events);
	budget_free(e->budget);
	grants_done(&e->grants);
	generation_unref(e->now);
	loop_free(e->loop);
	if (e->scratch)
		secret_wipe(e->scratch, EGRESS_SCRATCH);
	free(e->scratch);
	if (e->cooked)
		secret_wipe(e->cooked, EGRESS_SCRATCH);
	free(e->cooked);
}
