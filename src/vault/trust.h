/*
 * trust: the certificates of a run as files in memory, for the supervisor to hand on: the roots that egress trusts, and what programs inside are to trust: the same and the run's own CA.
 * Made before the vault is confined, since the system's are read from its files.
 */
#ifndef CORDON_VAULT_TRUST_H
#define CORDON_VAULT_TRUST_H

#include <stdbool.h>

#include "base/error.h"
#include "vault/mint.h"

/*
 * Sends VAULT_TRUST. ca_file: the operator's, besides the system's; NULL: none. inside: programs inside need certificates, as PEM and, where this machine has a Java to use it,
 * as a trust store of Java's; else these two are empty.
 */
int trust_send(int socket, const struct mint *mint, const char *ca_file, bool inside, struct error *err);

#endif
