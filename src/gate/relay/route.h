/*
 * route: a guest who has said where it wants to go is judged, and sent there.
 *
 *	denied		 CONNECT: 403 with the reason; SOCKS: reply 2; a direct dial that the kernel did not refuse
 *		before (model/reach.h): a 403 where it speaks HTTP at once, else a reset
 *	NET_INSPECT	 "go on", then by the first bytes: TLS is ended here (intercept.h), HTTP is served, anything
 *		else is closed
 *	NET_TUNNEL, 443	 egress dials, "go on", then a ClientHello with the right name must come before a byte goes up
 *	NET_TUNNEL, 80	 "go on", then by the first bytes: TLS as above, HTTP is served, so that its Host is held to the
 *		name
 *	NET_RAW		 egress dials, "go on", and a tunnel in which the server may speak first
 *
 * A direct dial needs no "go on", and is only dialled for once its ClientHello was seen.
 */
#ifndef CORDON_RELAY_ROUTE_H
#define CORDON_RELAY_ROUTE_H

#include "gate/relay/guest.h"

/* A direct dial that is denied is told so by this long at most, also where the client waits for the server to speak. */
enum { ROUTE_DENIED_MS = 300 };

/* g->door is set. host: as the client says it, be it an address that stands for a name. Takes the guest over. */
void route(struct guest *g, struct sv host, uint16_t port);

/* The kernel refused it (sys/refused.h): it is told, as if it had been judged here. */
void route_refused(struct relay *r, struct sv host, uint16_t port);

/* For intercept.h: from here on HTTP. Takes the guest over. */
void route_to_http(struct guest *g, bool tls);

#endif
