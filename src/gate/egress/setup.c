#include "gate/egress/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/egress/egress.h"
#include "gate/egress/exchange.h"
#include "gate/egress/pool.h"
#include "gate/egress/tunnel.h"
#include "http/h1.h"
#include "sys/process.h"
#include "sys/role_confine.h"

enum { ROOTS_MAX = 16 << 20, FIRST_CLOSED = GATE_VAULT_FD + 1, DESCRIPTORS = 65536 };

static const uint64_t memory = UINT64_C(4) << 30;

static int read_roots(int fd, struct buf *out, struct error *err)
{
	int r;

	buf_init(out, ROOTS_MAX);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_sys(err, errno, "roots");
	r = buf_read_fd(out, fd);
	return r < 0 ? error_sys(err, r, "roots") : 0;
}

/* Of the resolver. */
static bool charge(void *arg, uint64_t bytes)
{
	return egress_may_send(arg, bytes);
}

static int take_setup(struct egress *e, const struct wire_message *m, struct error *err)
{
	struct gate_egress_setup s;
	AUTO_BUF roots = {0};

	if (m->type != GATE_EGRESS_SETUP || m->n_fds != 2 || gate_get_egress_setup(buf_view(&m->body), &s) < 0)
		return error_set(err, ERROR_INPUT, "the first message of the supervisor is no set-up");
	if (generation_read(m->fds[0], s.generation, NULL, &e->now, err) < 0 || read_roots(m->fds[1], &roots, err) < 0)
		return -1;
	quota_follow(&e->quota, e->now->policy);
	e->dialer.loop = e->loop;
	if (dialer_set_proxy(&e->dialer, s.proxy) < 0)
		return error_set(err, ERROR_INPUT, "the upstream proxy is no URL of the form http://host:port");
	if (resolver_new(e->loop, s.pins, s.n_pins, &e->resolver, err) < 0 ||
	    tls_client_new(buf_view(&roots), &e->tls, err) < 0)
		return -1;
	resolver_charge(e->resolver, charge, e);
	e->dialer.resolver = e->resolver;
	return 0;
}

static int receive_setup(struct egress *e, struct error *err)
{
	struct wire_message m;
	int r = wire_receive(e->control, &m);

	if (r > 0)
		r = take_setup(e, &m, err);
	else
		r = error_sys(err, r < 0 ? r : EPIPE, "waiting for the set-up");
	wire_message_done(&m);
	return r;
}

static int receive_grants(struct egress *e, struct error *err)
{
	struct wire_message m;
	int r = 1;

	while (r > 0 && !e->grants.complete) {
		r = wire_receive(e->vault, &m);
		if (r > 0 && grants_message(&e->grants, &m) < 0)
			r = -EPROTO;
		wire_message_done(&m);
	}
	return r > 0 ? 0 : error_sys(err, r < 0 ? r : EPIPE, "waiting for the credentials");
}

static int make_parts(struct egress *e, struct error *err)
{
	e->events = events_new(e->loop, e->control);
	e->budget = budget_new();
	e->tunnels = tunnels_new(e);
	e->pool = pool_new(e);
	e->recent = h1_recent_new();
	e->scratch = malloc(EGRESS_SCRATCH);
	e->cooked = malloc(EGRESS_SCRATCH);
	if (!e->events || !e->budget || !e->tunnels || !e->pool || !e->recent || !e->scratch || !e->cooked)
		return error_sys(err, ENOMEM, "egress");
	return 0;
}

/* The supervisor made them; whether they block was not its business. */
static int set_nonblocking(const struct egress *e, struct error *err)
{
	const int fds[] = {e->control, GATE_LINK_FD, e->calls, e->vault};
	size_t i;
	int flags;

	for (i = 0; i < ARRAY_LEN(fds); i++) {
		if (fds[i] < 0)
			continue;
		flags = fcntl(fds[i], F_GETFL);
		if (flags < 0 || fcntl(fds[i], F_SETFL, flags | O_NONBLOCK) < 0)
			return error_sys(err, errno, "descriptor %d", fds[i]);
	}
	return 0;
}

int egress_setup(struct egress *e, struct error *err)
{
	int r;

	*e = (struct egress){.control = GATE_CONTROL_FD, .calls = GATE_CALLS_FD, .vault = GATE_VAULT_FD};
	if (fcntl(e->vault, F_GETFD) < 0)
		e->vault = -1;
	/* whatever was left open by mistake, before we have descriptors of our own */
	r = sys_close_from(FIRST_CLOSED);
	if (r < 0)
		return error_sys(err, r, "closing descriptors");
	e->loop = loop_new();
	if (!e->loop)
		return error_sys(err, errno, "event loop");
	if (receive_setup(e, err) < 0)
		return -1;
	if (e->vault >= 0 && generation_needs_grants(e->now) && receive_grants(e, err) < 0)
		return -1;
	if (make_parts(e, err) < 0 || set_nonblocking(e, err) < 0)
		return -1;
	(void)malloc_trim(0); /* what reading the policy and the roots took, before there is no call for it */
	r = role_confine(&(struct role_needs){
		.may = ROLE_DIAL, .first_closed = DESCRIPTORS, .descriptors = DESCRIPTORS, .memory = memory});
	if (r < 0)
		return error_sys(err, r, "confining egress");
	r = link_new(e->loop, GATE_LINK_FD, false, &exchange_events, e, &e->link);
	return r < 0 ? error_sys(err, r, "link") : 0;
}
