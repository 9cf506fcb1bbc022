/*
 * client: what the TLS streams that we dial have in common: versions (1.2 and later), the roots that are trusted, and
 * sessions to resume.
 *
 * Roots are given as PEM text (bundle.h reads the system's) and kept as DER; a root becomes an X509 object when a chain
 * first needs it, since all of them as objects would take more memory than the rest of an idle gateway.
 *
 * Sessions: the newest of each of the last TLS_CLIENT_SESSIONS hosts; one of TLS 1.3 is used once.
 */
#ifndef CORDON_TLS_CLIENT_H
#define CORDON_TLS_CLIENT_H

#include "base/error.h"
#include "base/sv.h"

struct tls_client;

enum { TLS_CLIENT_SESSIONS = 256 };

/* roots: certificates in PEM; other kinds of blocks are passed over. They are copied. No certificate at all is an
 * error. */
int tls_client_new(struct sv roots, struct tls_client **ret, struct error *err);
void tls_client_free(struct tls_client *client); /* NULL is fine */

#endif
