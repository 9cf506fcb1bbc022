/*
 * websocket: did the server mean the 101 that it sent (RFC 6455, 4.1)?
 *
 * Only who knows the protocol makes the right Sec-WebSocket-Accept of the request's key. A server that lets itself be
 * talked into any other 101 may read what follows as requests, which nobody judges.
 */
#ifndef CORDON_GATE_EGRESS_WEBSOCKET_H
#define CORDON_GATE_EGRESS_WEBSOCKET_H

#include "http/message.h"

enum { WEBSOCKET_KEY = 24, WEBSOCKET_ACCEPT = 29 };

/* A key for a request that has none: over HTTP/2 (RFC 8441) clients need none. No NUL is added. 0, or -errno: there is
 * nothing random to be had. */
int websocket_make_key(char ret[WEBSOCKET_KEY]);

/* What the answer must say; empty where the request has not exactly one key: then no answer will do. */
void websocket_expect(const struct http_fields *request, char ret[WEBSOCKET_ACCEPT]);

bool websocket_is_accepted(const struct http_fields *response, const char *expected);

#endif
