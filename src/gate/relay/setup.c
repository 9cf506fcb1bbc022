#include "gate/relay/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/relay/accept.h"
#include "gate/relay/ask.h"
#include "gate/relay/calls.h"
#include "gate/relay/channel.h"
#include "gate/relay/dns.h"
#include "gate/relay/events.h"
#include "gate/relay/generation.h"
#include "gate/relay/guest.h"
#include "gate/relay/http.h"
#include "gate/relay/leaves.h"
#include "gate/relay/refused.h"
#include "gate/relay/synthetic.h"
#include "gate/relay/tunnel.h"
#include "sys/role_confine.h"
#include "tls/server.h"
#include "vault/placeholder_set.h"

enum { DESCRIPTORS = 65536, MEMORY_GIB = 4 };

bool relay_takes_new(const struct relay *r)
{
	return !r->quiet && !channel_busy(r->control);
}

void relay_connection_over(struct relay *r)
{
	r->n_connections--;
	relay_listeners_wake(r->listeners);
}

void relay_stop(struct relay *r)
{
	r->status = 1;
	loop_stop(r->loop);
}

void relay_switch(struct relay *r, struct generation *g)
{
	relay_generation_unref(r->now);
	r->now = g;
	relay_tunnels_judge_again(r);
	http_judge_again(r);
}

/* What the supervisor says. */

static bool on_policy(struct relay *r, struct wire_message *m)
{
	struct generation *g = NULL;
	struct error err;
	struct wire_in in;
	uint64_t number;

	wire_in_init(&in, buf_view(&m->body));
	number = wire_get_u64(&in);
	if (!wire_ok(&in) || m->n_fds != 1 || number <= r->now->number ||
	    relay_generation_read(m->fds[0], number, r->now, &g, &err) < 0)
		return false;
	relay_switch(r, g);
	return true;
}

static bool on_quiet(struct relay *r, struct sv body)
{
	struct wire_in in;
	uint32_t quiet;

	wire_in_init(&in, body);
	quiet = wire_get_u32(&in);
	if (!wire_ok(&in))
		return false;
	r->quiet = quiet != 0;
	return true;
}

static bool on_refused(struct relay *r, struct wire_message *m)
{
	return m->n_fds == 1 && relay_refused_listen(r->refused, fd_take(&m->fds[0])) == 0;
}

static bool on_control(void *user, struct wire_message *m)
{
	struct relay *r = user;

	switch (m->type) {
	case GATE_POLICY:
		return on_policy(r, m);
	case GATE_QUIET:
		return on_quiet(r, buf_view(&m->body));
	case GATE_REFUSED:
		return on_refused(r, m);
	case GATE_ANSWER:
		return relay_ask_answered(r, buf_view(&m->body));
	default:
		return false;
	}
}

/* The supervisor ends us by ending its side. It may still read, and then has the last word of what was counted. */
static void on_control_gone(void *user)
{
	struct relay *r = user;

	relay_tunnels_count(r);
	relay_refused_drain(r->refused);
	relay_events_flush(r->events);
	channel_drain(r->control);
	loop_stop(r->loop);
}

static const struct channel_events control_events = {.message = on_control, .gone = on_control_gone};

/* The first message. */

static int read_setup(struct wire_message *m, struct gate_relay_setup *ret, struct error *err)
{
	int r = wire_receive(GATE_CONTROL_FD, m);

	if (r <= 0)
		return error_sys(err, r < 0 ? r : ECONNRESET, "waiting for the setup");
	if (m->type != GATE_RELAY_SETUP || gate_get_relay_setup(buf_view(&m->body), ret) < 0 ||
	    m->n_fds != 1 + ret->n_listeners)
		return error_set(err, ERROR_SYSTEM, "the setup is malformed");
	return 0;
}

static void set_bounds(struct relay *r)
{
	struct rlimit limit = {0};
	uint64_t fds = DESCRIPTORS, max;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < fds)
		fds = limit.rlim_max;
	/* A limit that is too low for our habits still leaves room for some. */
	fds = fds > 2 * RELAY_SPARE_FDS ? fds - RELAY_SPARE_FDS : fds / 2;
	max = fds > 2 * RELAY_OWN_FDS ? (fds - RELAY_OWN_FDS) / 2 : fds / 4;
	r->last_fd = (int)fds;
	r->max_connections = max < RELAY_MAX_CONNECTIONS ? max : RELAY_MAX_CONNECTIONS;
}

static int unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

static int open_sockets(struct relay *r, struct error *err)
{
	int fd, e;

	for (fd = GATE_CONTROL_FD; fd <= GATE_VAULT_FD; fd++) {
		e = unblock(fd);
		if (e < 0)
			return error_sys(err, e, "fd %d", fd);
	}
	e = channel_new(r->loop, GATE_CONTROL_FD, &control_events, r, &r->control);
	if (e == 0)
		e = relay_calls_new(r, GATE_CALLS_FD, &r->calls);
	if (e == 0)
		e = relay_leaves_new(r->loop, GATE_VAULT_FD, &r->leaves);
	if (e == 0)
		e = link_new(r->loop, GATE_LINK_FD, true, &http_link_events, r, &r->link);
	return e < 0 ? error_sys(err, e, "the role's sockets") : 0;
}

static int make_parts(struct relay *r, const struct gate_relay_setup *setup, struct error *err)
{
	int e = 0;

	r->loop = loop_new();
	if (!r->loop)
		return error_sys(err, errno, "event loop");
	if (tls_server_new(&r->tls, err) < 0 || open_sockets(r, err) < 0)
		return -1;
	if (setup->n_placeholders)
		e = placeholder_set_new(setup->placeholders, setup->owners, setup->n_placeholders, &r->placeholders);
	if (e < 0)
		return error_sys(err, e, "placeholders");
	r->events = relay_events_new(r->loop, r->control);
	r->guests = relay_guests_new();
	r->ask = relay_ask_new();
	r->tunnels = relay_tunnels_new(r);
	r->listeners = relay_listeners_new(r);
	r->dns = relay_dns_new(r);
	r->refused = relay_refused_new(r);
	r->synthetic = synthetic_new();
	if (!r->events || !r->guests || !r->ask || !r->tunnels || !r->listeners || !r->dns || !r->refused ||
	    !r->synthetic || http_open(r) < 0)
		return error_sys(err, ENOMEM, "relay");
	return 0;
}

/* Can clients inside dial IPv6? Where a listener for what they dial is one of IPv6. */
static bool takes_v6(int fd)
{
	struct sockaddr_storage at = {0};
	socklen_t n = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &n) == 0 && at.ss_family == AF_INET6;
}

static int take_listener(struct relay *r, const struct gate_listener *what, int fd)
{
	switch (what->kind) {
	case GATE_LISTEN_DNS_UDP:
		return relay_dns_listen(r->dns, fd);
	case GATE_LISTEN_REFUSED:
		return relay_refused_listen(r->refused, fd);
	default:
		return relay_listen(r->listeners, fd, what);
	}
}

static int listen_all(struct relay *r, struct wire_message *m, const struct gate_relay_setup *setup, struct error *err)
{
	const struct gate_listener *what;
	uint32_t i;
	int fd, e;

	for (i = 0; i < setup->n_listeners; i++) {
		what = &setup->listeners[i];
		fd = fd_take(&m->fds[1 + i]);
		r->v6 = r->v6 || (what->kind == GATE_LISTEN_TRANSPARENT && takes_v6(fd));
		e = take_listener(r, what, fd);
		if (e < 0)
			return error_sys(err, e, "listener %u", i);
	}
	return 0;
}

static int confine(struct error *err)
{
	/* What was inherited beyond the role's own was closed at the start; all else is ours. */
	const struct role_needs needs = {.may = ROLE_ACCEPT | ROLE_SPLICE,
					 .first_closed = DESCRIPTORS,
					 .descriptors = DESCRIPTORS,
					 .memory = (uint64_t)MEMORY_GIB << 30};
	int e = role_confine(&needs);

	return e < 0 ? error_sys(err, e, "the relay cannot be confined") : 0;
}

int relay_setup(struct relay *r, struct error *err)
{
	struct gate_relay_setup setup;
	struct wire_message m = {0};
	int e;

	e = read_setup(&m, &setup, err);
	set_bounds(r);
	if (e == 0)
		e = relay_generation_read(m.fds[0], setup.generation, NULL, &r->now, err);
	if (e == 0)
		e = make_parts(r, &setup, err);
	(void)malloc_trim(0); /* what decoding the policy took, before there is no call for it */
	if (e == 0)
		e = confine(err);
	if (e == 0)
		e = listen_all(r, &m, &setup, err);
	wire_message_done(&m);
	if (e == 0 && channel_send(r->control, GATE_READY, sv_n("", 0)) < 0)
		e = error_set(err, ERROR_SYSTEM, "the supervisor is gone");
	return e;
}

void relay_teardown(struct relay *r)
{
	relay_listeners_free(r->listeners);
	r->listeners = NULL;
	if (r->loop)
		http_done(r);
	relay_guests_free(r->guests);
	relay_ask_free(r->ask);
	relay_tunnels_free(r->tunnels);
	relay_dns_free(r->dns);
	relay_refused_free(r->refused);
	link_free(r->link);
	relay_leaves_free(r->leaves);
	relay_calls_free(r->calls);
	relay_events_free(r->events);
	channel_free(r->control);
	tls_server_free(r->tls);
	synthetic_free(r->synthetic);
	placeholder_set_free(r->placeholders);
	relay_generation_unref(r->now);
	loop_free(r->loop);
}
