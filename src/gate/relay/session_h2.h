/*
 * session_h2: a connection that carries HTTP/2; each stream is an exchange.
 *
 * What streams have to send waits in a buffer of each, bounded by the link's window, until the client's windows let it go; nothing is read from the client while
 * the socket does not take what is to be sent.
 */
#ifndef CORDON_RELAY_SESSION_H2_H
#define CORDON_RELAY_SESSION_H2_H

#include "gate/relay/relay.h"

/* first: bytes that were read already. 0, or -1: no memory; the stream is still the caller's. */
int session_h2_start(struct relay *r, struct stream *s, const struct http_origin *o, struct sv first);

#endif
