/*
 * session_h2: a connection that carries HTTP/2; each stream is an exchange.
 *
 * What streams have to send waits in a buffer of each, bounded by the link's window, until the client's windows let it
 * go; nothing is read from the client while the socket does not take what is to be sent.
 */
#ifndef CORDON_RELAY_SESSION_H2_H
#define CORDON_RELAY_SESSION_H2_H

#include "gate/relay/relay.h"

/*
 * A connection of HTTP/2 can hold a hundred requests, so there are few: SESSION_H2_MAX are offered it, the others speak
 * HTTP/1.1 (session_h2_room()). Handshakes that were begun before the last place was taken may still come, up to twice
 * that.
 */
enum { SESSION_H2_MAX = 64 };
bool session_h2_room(const struct relay *r);

/* first: bytes that were read already. 0, or -1: no memory, or no room at all; the stream is still the caller's. */
int session_h2_start(struct relay *r, struct stream *s, const struct http_origin *o, struct sv first);

#endif
