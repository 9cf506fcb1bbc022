#include "init/gateway.h"

#include <errno.h>
#include <sys/socket.h>

#include "sys/process.h"

/* Two for each connection of the bridge, and some. */
enum { DESCRIPTORS = 2 * BRIDGE_CONNECTIONS + 256 };

unsigned long gateway_raise_limit(const struct rlimit *now)
{
	struct rlimit more = *now;

	if (now->rlim_cur >= DESCRIPTORS)
		return now->rlim_cur;
	more.rlim_cur = now->rlim_max < DESCRIPTORS ? now->rlim_max : DESCRIPTORS;
	return setrlimit(RLIMIT_NOFILE, &more) == 0 ? more.rlim_cur : now->rlim_cur;
}

static int open_stream(struct gateway *g, const struct listen_port *p, bool v6)
{
	int fd = listen_on(p->port, SOCK_STREAM, v6);

	return fd < 0 ? fd : bridge_listen(g->bridge, fd, p);
}

static int open_dns(struct gateway *g, const struct listen_port *p)
{
	int r = open_stream(g, p, false), fd;

	if (r < 0)
		return r;
	fd = g->dns ? -EEXIST : listen_on(p->port, SOCK_DGRAM, false);
	return fd < 0 ? fd : dns_new(g->epoll, g->door, fd, &g->dns);
}

/* Without the redirect there is nobody who would come to the port. */
static int open_transparent(struct gateway *g, const struct listen_port *p)
{
	int r;

	g->redirected = redirects_make(p->port, g->reach, &g->redirects);
	if (!g->redirected)
		return 0;
	r = open_stream(g, p, false);
	if (r == 0)
		(void)open_stream(g, p, true); /* a kernel without IPv6 has nobody who would connect */
	return r;
}

static int open_port(struct gateway *g, const struct listen_port *p)
{
	switch (p->kind) {
	case DOOR_TRANSPARENT:
		return open_transparent(g, p);
	case DOOR_DNS:
		return open_dns(g, p);
	default:
		return open_stream(g, p, false);
	}
}

int gateway_open(struct gateway *g, unsigned long max_fds, unsigned *ret_port)
{
	unsigned i;
	int r = 0;

	*ret_port = 0;
	if (!g->door)
		return 0;
	/* Where we may not, the container's maker has done it, or nothing connects. */
	(void)sys_loopback_up();
	g->bridge = bridge_new(g->epoll, g->door, max_fds);
	if (!g->bridge)
		return -ENOMEM;
	for (i = 0; i < g->n_ports && r == 0; i++) {
		*ret_port = g->ports[i].port;
		r = open_port(g, &g->ports[i]);
	}
	return r;
}

void gateway_close(struct gateway *g)
{
	bridge_free(g->bridge);
	dns_free(g->dns);
}

int gateway_tick(struct gateway *g)
{
	int a = g->bridge ? bridge_tick(g->bridge) : -1, b = g->dns ? dns_tick(g->dns) : -1;

	return a < 0 ? b : b < 0 || a < b ? a : b;
}
