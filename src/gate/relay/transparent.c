#include "gate/relay/transparent.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "gate/relay/route.h"
#include "model/address.h"

/* SO_ORIGINAL_DST of netfilter, the same number at both levels; glibc has no name for it. */
enum { ORIGINAL_DESTINATION = 80 };

union place {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static bool read_place(const union place *p, struct address *ret, uint16_t *ret_port)
{
	if (p->any.sa_family == AF_INET) {
		*ret = address_of4((const uint8_t *)&p->in.sin_addr);
		*ret_port = ntohs(p->in.sin_port);
		return true;
	}
	if (p->any.sa_family == AF_INET6) {
		*ret = address_of6(p->in6.sin6_addr.s6_addr);
		*ret_port = ntohs(p->in6.sin6_port);
		return true;
	}
	return false;
}

/* A socket of IPv6 may carry a connection of IPv4, whose memory is at the other level: both are asked. */
static bool destination(int fd, struct address *ret, uint16_t *ret_port)
{
	static const int levels[] = {SOL_IP, SOL_IPV6};
	union place p;
	socklen_t n;
	size_t i;

	for (i = 0; i < 2; i++) {
		n = sizeof(p);
		if (getsockopt(fd, levels[i], ORIGINAL_DESTINATION, &p, &n) == 0 && read_place(&p, ret, ret_port))
			return true;
	}
	n = sizeof(p);
	return getsockname(fd, &p.any, &n) == 0 && read_place(&p, ret, ret_port);
}

void transparent(struct guest *g)
{
	char text[ADDRESS_TEXT];
	struct address a;
	uint16_t port;

	if (!destination(stream_fd(g->stream), &a, &port)) {
		guest_reset(g);
		return;
	}
	g->door = DOOR_DIRECT;
	route(g, sv_of(address_text(&a, text)), port);
}
