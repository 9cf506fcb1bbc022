#include "sandbox/native/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/common/redirects.h"

enum { BACKLOG = 1024 };

static int bind_loopback(int fd, const struct plan_listener *l)
{
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(l->port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_port = htons(l->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return l->v6 ? bind(fd, (struct sockaddr *)&v6, sizeof(v6)) : bind(fd, (struct sockaddr *)&v4, sizeof(v4));
}

static int listen_on(const struct plan_listener *l)
{
	bool udp = l->kind == GATE_LISTEN_DNS_UDP;
	int fd = socket(l->v6 ? AF_INET6 : AF_INET, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int code;

	if (fd < 0)
		return -errno;
	if (bind_loopback(fd, l) == 0 && (udp || listen(fd, BACKLOG) == 0))
		return fd;
	code = errno;
	(void)close(fd);
	return -code;
}

static bool wants(const struct plan *p, uint32_t kind)
{
	size_t i;

	for (i = 0; i < p->n_listeners; i++)
		if (p->listeners[i].kind == kind)
			return true;
	return false;
}

static void add(struct net_listeners *to, const struct plan_listener *l, int fd)
{
	to->what[to->n] = *l;
	to->fds[to->n++] = fd;
}

/* Is what is sent anywhere brought to us? */
static bool redirect(const struct plan *p, struct net_listeners *ret)
{
	static const struct plan_listener refused = {.kind = GATE_LISTEN_REFUSED}, changes = {.kind = GATE_REDIRECTS};
	struct redirects made;

	if (!wants(p, GATE_LISTEN_TRANSPARENT) || !redirects_make(GATE_REDIRECT_PORT, &p->reach, &made))
		return false;
	if (made.refused >= 0) {
		add(ret, &refused, made.refused);
		add(ret, &changes, made.changes);
	}
	return true;
}

int net_listen(const struct plan *p, struct net_listeners *ret, struct error *err)
{
	const struct plan_listener *l;
	bool transparent;
	size_t i;
	int fd;

	ret->n = 0;
	transparent = redirect(p, ret);
	for (i = 0; i < p->n_listeners && ret->n < GATE_MAX_LISTENERS; i++) {
		l = &p->listeners[i];
		if (l->kind == GATE_LISTEN_TRANSPARENT && !transparent)
			continue;
		fd = listen_on(l);
		if (fd < 0 && l->v6)
			continue; /* a kernel without IPv6 has nobody who would connect */
		if (fd < 0)
			return error_sys(err, fd, "gateway: listen on port %u of the sandbox", l->port);
		add(ret, l, fd);
	}
	return 0;
}
