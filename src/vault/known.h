/*
 * known: the credentials that need no credentials.yaml: the keys of providers in the variables that everybody keeps
 * them in, bound to the provider's own host.
 *
 * A name that the operator's file has is the operator's. A known one whose variable is not set is missing, which is
 * said; the run starts all the same, and requests that need it fail.
 */
#ifndef CORDON_VAULT_KNOWN_H
#define CORDON_VAULT_KNOWN_H

#include "vault/credential.h"

/* 0 or -ENOMEM. */
int credentials_add_known(struct credentials *c);

#endif
