#include "gate/relay/transparent.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "gate/relay/route.h"
#include "model/address.h"
#include "sys/tcp.h"

bool transparent_place(const struct sockaddr_storage *p, struct address *ret, uint16_t *ret_port)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)p;
	const struct sockaddr_in *in = (const struct sockaddr_in *)p;

	if (p->ss_family == AF_INET) {
		*ret = address_of4((const uint8_t *)&in->sin_addr);
		*ret_port = ntohs(in->sin_port);
		return true;
	}
	if (p->ss_family == AF_INET6) {
		*ret = address_of6(in6->sin6_addr.s6_addr);
		*ret_port = ntohs(in6->sin6_port);
		return true;
	}
	return false;
}

void transparent_to(struct guest *g, const struct address *to, uint16_t port)
{
	char text[ADDRESS_TEXT];

	g->door = DOOR_DIRECT;
	route(g, sv_of(address_text(to, text)), port);
}

void transparent(struct guest *g)
{
	struct sockaddr_storage place;
	struct address to;
	uint16_t port;

	if (tcp_destination(stream_fd(g->stream), &place) < 0 || !transparent_place(&place, &to, &port)) {
		guest_reset(g);
		return;
	}
	transparent_to(g, &to, port);
}
