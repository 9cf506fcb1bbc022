/*
 * server: what the TLS streams that we accept have in common: versions (1.2 and later), ALPN, and session tickets,
 * whose keys are made at random in memory and end with the process. A session is bound to the leaf that it began with:
 * it cannot be resumed under another name.
 */
#ifndef CORDON_TLS_SERVER_H
#define CORDON_TLS_SERVER_H

#include "base/error.h"

struct tls_server;

int tls_server_new(struct tls_server **ret, struct error *err);
void tls_server_free(struct tls_server *server); /* NULL is fine */

#endif
