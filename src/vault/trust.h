/*
 * trust: the certificates of a run as files in memory, for the supervisor to hand on: the roots that egress trusts, and
 * what programs inside are to trust: the same and the run's own CA. Made before the vault is confined, since the
 * system's are read from its files.
 */
#ifndef CORDON_VAULT_TRUST_H
#define CORDON_VAULT_TRUST_H

#include <stdbool.h>

#include "base/error.h"
#include "base/sha256.h"
#include "vault/mint.h"

/*
 * Sends VAULT_TRUST. ca_file: the operator's, besides the system's; NULL: none. inside: programs inside need
 * certificates, as PEM and, where this machine has a Java to use it, as a trust store of Java's; else these two are
 * empty. ret_ca: as trust_digest() says it, of the bytes that were sent.
 */
int trust_send(int socket, const struct mint *mint, const char *ca_file, bool inside, unsigned char ret_ca[SHA256_SIZE],
	       struct error *err);

/* Of the bytes of ca_file as it is now; zeros where that is NULL. */
int trust_digest(const char *ca_file, unsigned char ret_ca[SHA256_SIZE], struct error *err);

#endif
