#include "init/bridge.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "init/watch.h"
#include "sys/tcp.h"

/* REST_MS: where there is no room. HALF_MS: how long a half-closed stream may say nothing then. OTHER_FDS: what is not
 * a connection's. */
enum { REST_MS = 20, HALF_MS = 5000, OTHER_FDS = 192 };

/* One direction. */
struct flow {
	size_t at, n; /* what was read and not written yet */
	bool ended;   /* nothing more comes */
	bool told;    /* and the other side knows */
	char bytes[BRIDGE_ROOM];
};

struct connection {
	struct bridge *bridge;
	struct connection *next, **back; /* of the living; next alone of the dead */
	struct watch client, door;
	bool deaf;     /* the relay takes no more: what the client still says is dropped */
	bool answered; /* the relay said something */
	int64_t moved; /* of one that the relay has ended: when something last happened */
	struct flow up, down;
};

struct port {
	struct bridge *bridge;
	struct watch watch;
	struct listen_port what;
};

struct bridge {
	int epoll;
	const char *path;
	unsigned long n, max;
	bool resting;
	struct connection *living;
	struct connection *dead; /* but events of theirs may still be on the way */
	unsigned n_ports;
	struct port ports[BRIDGE_PORTS];
};

struct bridge *bridge_new(int epoll, const char *door, unsigned long max_fds)
{
	struct bridge *b = calloc(1, sizeof(*b));
	unsigned long max = max_fds > 2 * OTHER_FDS ? (max_fds - OTHER_FDS) / 2 : max_fds / 4;

	if (!b)
		return NULL;
	b->epoll = epoll;
	b->path = door;
	b->max = max < BRIDGE_CONNECTIONS ? max : BRIDGE_CONNECTIONS;
	return b;
}

/* Moving bytes. */

static size_t room(const struct flow *f)
{
	return f->ended ? 0 : BRIDGE_ROOM - f->n;
}

/* 0 or -errno. */
static int fill(int fd, struct flow *f)
{
	ssize_t n;

	if (!room(f))
		return 0;
	if (f->n == 0)
		f->at = 0;
	if (f->at + f->n == BRIDGE_ROOM) {
		memmove(f->bytes, f->bytes + f->at, f->n);
		f->at = 0;
	}
	n = read(fd, f->bytes + f->at + f->n, BRIDGE_ROOM - f->at - f->n);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	f->ended = n == 0;
	f->n += (size_t)n;
	return 0;
}

static int drain(int fd, struct flow *f)
{
	ssize_t n;

	if (!f->n)
		return 0;
	n = send(fd, f->bytes + f->at, f->n, MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	f->at += (size_t)n;
	f->n -= (size_t)n;
	return 0;
}

static void pass_end(int fd, struct flow *f)
{
	if (!f->ended || f->n || f->told)
		return;
	f->told = true;
	(void)shutdown(fd, SHUT_WR);
}

/* 0, or -1: the client is gone. */
static int move_up(struct connection *c)
{
	if (fill(c->client.fd, &c->up) < 0)
		return -1;
	if (!c->deaf && drain(c->door.fd, &c->up) < 0)
		c->deaf = true;
	if (c->deaf)
		c->up.n = 0;
	else
		pass_end(c->door.fd, &c->up);
	return 0;
}

/* Both directions: the end of one alone is no hangup. */
static bool is_hung_up(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR));
}

static int move_down(struct connection *c)
{
	if (fill(c->door.fd, &c->down) < 0)
		c->down.ended = c->deaf = true;
	if (c->down.ended && !c->down.told && !c->deaf)
		c->deaf = is_hung_up(c->door.fd);
	c->answered = c->answered || c->down.n;
	if (drain(c->client.fd, &c->down) < 0)
		return -1;
	/* A refusal is told by a reset, and there must be no end in peace before it. */
	if (c->answered || !c->deaf)
		pass_end(c->client.fd, &c->down);
	return 0;
}

/* Connections. */

static void reset(int fd)
{
	const struct linger now = {.l_onoff = 1};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)close(fd);
}

static void end(struct connection *c)
{
	struct bridge *b = c->bridge;

	watch_drop(b->epoll, &c->client);
	watch_drop(b->epoll, &c->door);
	if (c->answered || c->up.ended)
		(void)close(c->client.fd);
	else
		reset(c->client.fd);
	(void)close(c->door.fd);
	b->n--;
	*c->back = c->next;
	if (c->next)
		c->next->back = c->back;
	c->next = b->dead;
	b->dead = c;
}

static int want(struct connection *c)
{
	uint32_t client = (room(&c->up) ? EPOLLIN : 0u) | (c->down.n ? EPOLLOUT : 0u);
	uint32_t door = (room(&c->down) ? EPOLLIN : 0u) | (c->up.n ? EPOLLOUT : 0u);
	int epoll = c->bridge->epoll, r = 0;

	/* A hangup would be told again and again; the relay's is waited for until it came, the client's is seen by
	 * reading or writing. */
	if (client)
		r = watch_set(epoll, &c->client, client);
	else
		watch_drop(epoll, &c->client);
	if (r < 0)
		return r;
	if (door || !c->deaf)
		return watch_set(epoll, &c->door, door);
	watch_drop(epoll, &c->door);
	return 0;
}

static void shuttle(struct connection *c)
{
	bool over;

	if (move_up(c) < 0 || move_down(c) < 0) {
		end(c);
		return;
	}
	if (c->down.told)
		c->moved = now_ms();
	over = c->down.ended && c->down.n == 0 && (c->up.told || c->deaf);
	if (over || want(c) < 0)
		end(c);
}

static void on_client(void *arg, uint32_t events)
{
	(void)events;
	shuttle(arg);
}

static void on_door(void *arg, uint32_t events)
{
	struct connection *c = arg;

	c->deaf = c->deaf || (events & (EPOLLHUP | EPOLLERR));
	shuttle(c);
}

static bool put_destination(int client, struct door_header *h)
{
	struct sockaddr_storage to;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&to;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&to;

	if (tcp_destination(client, &to) < 0)
		return false;
	h->family = to.ss_family == AF_INET ? 4 : 6;
	h->port = ntohs(h->family == 4 ? in->sin_port : in6->sin6_port);
	if (h->family == 4)
		memcpy(h->address, &in->sin_addr, sizeof(in->sin_addr));
	else
		memcpy(h->address, &in6->sin6_addr, sizeof(in6->sin6_addr));
	return true;
}

static void enter(struct connection *c)
{
	struct bridge *b = c->bridge;

	c->next = b->living;
	c->back = &b->living;
	if (c->next)
		c->next->back = &c->next;
	b->living = c;
	b->n++;
}

/* Takes both. */
static void join(struct port *p, int client, int door)
{
	struct door_header h = {.kind = p->what.kind, .provider = p->what.provider};
	struct connection *c = NULL;

	if (p->what.kind != DOOR_TRANSPARENT || put_destination(client, &h))
		c = malloc(sizeof(*c)); /* not cleared: the rooms are filled before they are read */
	if (!c) {
		reset(client);
		(void)close(door);
		return;
	}
	memset(c, 0, offsetof(struct connection, up));
	memset(&c->up, 0, offsetof(struct flow, bytes));
	memset(&c->down, 0, offsetof(struct flow, bytes));
	c->bridge = p->bridge;
	c->client = (struct watch){.fd = client, .fn = on_client, .arg = c};
	c->door = (struct watch){.fd = door, .fn = on_door, .arg = c};
	door_put(&h, (unsigned char *)c->up.bytes);
	c->up.n = DOOR_HEADER;
	enter(c);
	shuttle(c);
}

/* Ports. */

static void rest(struct bridge *b)
{
	unsigned i;

	for (i = 0; i < b->n_ports; i++)
		watch_drop(b->epoll, &b->ports[i].watch);
	b->resting = true;
}

/* One at a time: there is somebody, or we would not have been called, and so no way through the door is opened for
 * nobody. */
static void on_port(void *arg, uint32_t events)
{
	struct port *p = arg;
	struct bridge *b = p->bridge;
	int door, client;

	(void)events;
	door = b->n < b->max ? listen_dial(b->path) : -EAGAIN;
	if (door == -EAGAIN || door == -EMFILE || door == -ENFILE || door == -ENOBUFS || door == -ENOMEM) {
		rest(b);
		return;
	}
	client = accept4(p->watch.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (client >= 0 && door >= 0) {
		join(p, client, door);
		return;
	}
	if (client < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
		rest(b);
	if (client >= 0)
		reset(client); /* nobody is behind the door */
	if (door >= 0)
		(void)close(door);
}

int bridge_listen(struct bridge *b, int fd, const struct listen_port *port)
{
	struct port *p = &b->ports[b->n_ports];
	int r = b->n_ports < BRIDGE_PORTS ? 0 : -ENOSPC;

	if (r == 0) {
		*p = (struct port){.bridge = b, .watch = {.fd = fd, .fn = on_port, .arg = p}, .what = *port};
		r = watch_set(b->epoll, &p->watch, EPOLLIN);
	}
	if (r < 0)
		(void)close(fd);
	else
		b->n_ports++;
	return r;
}

static void free_dead(struct bridge *b)
{
	struct connection *c;

	while ((c = b->dead)) {
		b->dead = c->next;
		free(c);
	}
}

void bridge_free(struct bridge *b)
{
	unsigned i;

	if (!b)
		return;
	while (b->living)
		end(b->living);
	free_dead(b);
	for (i = 0; i < b->n_ports; i++)
		(void)close(b->ports[i].watch.fd);
	free(b);
}

/* gVisor does not tell when the relay hangs up on a client that keeps its side open: such a stream would have its place
 * for ever. */
static void make_room(struct bridge *b)
{
	int64_t now = now_ms();
	struct connection *c, *next;

	for (c = b->living; c; c = next) {
		next = c->next;
		if (c->down.told && now - c->moved > HALF_MS)
			end(c);
	}
}

int bridge_tick(struct bridge *b)
{
	unsigned i;

	if (b->n >= b->max)
		make_room(b);
	free_dead(b);
	if (!b->resting)
		return -1;
	b->resting = b->n >= b->max;
	for (i = 0; i < b->n_ports && !b->resting; i++)
		if (watch_set(b->epoll, &b->ports[i].watch, EPOLLIN) < 0)
			b->resting = true;
	return REST_MS;
}
