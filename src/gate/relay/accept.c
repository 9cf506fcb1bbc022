#include "gate/relay/accept.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/door.h"
#include "gate/relay/dns.h"
#include "gate/relay/guest.h"
#include "gate/relay/http.h"
#include "gate/relay/proxy.h"
#include "gate/relay/transparent.h"

/* TURN: connections from one listener before the others get their turn. REST_MS: where nothing wakes us earlier. */
enum { TURN = 16, REST_MS = 1000 };

struct listener {
	struct relay_listeners *all;
	struct loop_watch watch;
	struct gate_listener what;
	int fd;
};

struct relay_listeners {
	struct relay *relay;
	struct loop_timer rest;
	bool resting;
	unsigned n;
	struct listener v[GATE_MAX_LISTENERS];
};

struct relay_listeners *relay_listeners_new(struct relay *r)
{
	struct relay_listeners *all = calloc(1, sizeof(*all));

	if (all)
		all->relay = r;
	return all;
}

void relay_listeners_free(struct relay_listeners *all)
{
	unsigned i;

	if (!all)
		return;
	loop_timer_cancel(&all->rest);
	for (i = 0; i < all->n; i++) {
		loop_watch_remove(&all->v[i].watch);
		(void)close(all->v[i].fd);
	}
	free(all);
}

static void change_all(struct relay_listeners *all, unsigned events)
{
	unsigned i;

	for (i = 0; i < all->n; i++)
		(void)loop_watch_change(&all->v[i].watch, events | LOOP_LEVEL);
}

void relay_listeners_wake(struct relay_listeners *all)
{
	if (!all || !all->resting)
		return;
	all->resting = false;
	loop_timer_cancel(&all->rest);
	change_all(all, LOOP_READ);
}

static void on_rested(void *arg)
{
	relay_listeners_wake(arg);
}

static void rest(struct relay_listeners *all)
{
	if (all->resting)
		return;
	all->resting = true;
	change_all(all, 0);
	loop_timer_set(all->relay->loop, &all->rest, REST_MS, on_rested, all);
}

/* A provider's port: HTTP, as soon as there is a first byte. */
static void on_inference(void *arg, unsigned events)
{
	struct guest *g = arg;
	const struct http_origin o = {.inference = true, .provider = g->provider};
	struct relay *r = g->relay;
	struct stream *s;
	int got = guest_read(g);

	(void)events;
	if (got == 0)
		return;
	s = guest_take_stream(g);
	if (s)
		http_serve(r, s, &o);
}

static void on_door(void *arg, unsigned events);

static void welcome(struct guest *g)
{
	switch (g->kind) {
	case GATE_LISTEN_PROXY:
		guest_phase(g, proxy_first);
		break;
	case GATE_LISTEN_TRANSPARENT:
		transparent(g);
		break;
	case GATE_LISTEN_DNS_UDP:
	case GATE_LISTEN_DNS_TCP:
		guest_phase(g, relay_dns_stream);
		break;
	case GATE_LISTEN_INFERENCE:
		guest_phase(g, on_inference);
		break;
	case GATE_LISTEN_DOOR:
		guest_phase(g, on_door);
		break;
	default:
		guest_reset(g);
	}
}

/* Nobody vouches for a header: from here on the guest is as one that came to a listener of that kind. */
static void through_door(struct guest *g, const struct door_header *h)
{
	static const uint32_t kinds[] = {
		[DOOR_PROXY] = GATE_LISTEN_PROXY,         [DOOR_TRANSPARENT] = GATE_LISTEN_TRANSPARENT,
		[DOOR_DNS] = GATE_LISTEN_DNS_TCP,         [DOOR_DNS_DATAGRAMS] = GATE_LISTEN_DNS_UDP,
		[DOOR_INFERENCE] = GATE_LISTEN_INFERENCE,
	};
	struct address to = h->family == 4 ? address_of4(h->address) : address_of6(h->address);

	g->kind = kinds[h->kind];
	g->provider = h->provider;
	/* What came with the header was seen already: nothing else would tell of it. */
	stream_resume(g->stream, STREAM_READ);
	if (h->kind == DOOR_TRANSPARENT)
		transparent_to(g, &to, h->port);
	else
		welcome(g);
}

static void on_door(void *arg, unsigned events)
{
	struct guest *g = arg;
	struct door_header h;
	unsigned char room[DOOR_HEADER];
	ssize_t n;

	(void)events;
	while (g->first.n < DOOR_HEADER) {
		n = stream_read(g->stream, room, DOOR_HEADER - g->first.n);
		if (n == -EAGAIN)
			return;
		if (n <= 0 || buf_add(&g->first, room, (size_t)n) < 0) {
			guest_reset(g);
			return;
		}
	}
	if (door_get((const unsigned char *)g->first.p, &h) < 0) {
		guest_reset(g);
		return;
	}
	guest_used(g, DOOR_HEADER);
	through_door(g, &h);
}

static bool is_full(const struct relay *r)
{
	return r->n_connections >= r->max_connections;
}

static bool is_scarce(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
}

static void on_listener(void *arg, unsigned events)
{
	struct listener *l = arg;
	struct relay *r = l->all->relay;
	struct guest *g;
	unsigned i;
	int fd;

	(void)events;
	for (i = 0; i < TURN; i++) {
		if (is_full(r) && !relay_guests_any(r)) {
			rest(l->all);
			return;
		}
		fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 ? is_scarce() : fd >= r->last_fd) {
			if (fd >= 0)
				(void)close(fd);
			if (!relay_guests_shed(r))
				rest(l->all);
			return;
		}
		if (fd < 0)
			return; /* nothing left, or one that was gone already */
		if (is_full(r)) /* not before there is somebody to make room for */
			(void)relay_guests_shed(r);
		if (guest_new(r, fd, l->what.kind, l->what.provider, &g) == 0)
			welcome(g);
	}
}

int relay_listen(struct relay_listeners *all, int fd, const struct gate_listener *what)
{
	struct listener *l = &all->v[all->n];
	int flags = fcntl(fd, F_GETFL), yes = 1, r;

	if (all->n == GATE_MAX_LISTENERS || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		(void)close(fd);
		return -EINVAL;
	}
	/* What is accepted inherits it. A small answer, a server-sent event, must not wait until the client has
	 * acknowledged the last one. Not for UNIX sockets, which do not. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	*l = (struct listener){.all = all, .what = *what, .fd = fd};
	r = loop_watch_add(all->relay->loop, &l->watch, fd, LOOP_READ | LOOP_LEVEL, on_listener, l);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	all->n++;
	return 0;
}
