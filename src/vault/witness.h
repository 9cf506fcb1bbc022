/*
 * witness: the vault's program in another role: it reads credentials.yaml and fetches the values that a run started
 * here and now would have, but of no command, says in a keyed digest what they are (vault/likeness.h), and ends.
 *
 * Whoever starts it learns no value: only a vault that has the same ones finds the same digest.
 */
#ifndef CORDON_VAULT_WITNESS_H
#define CORDON_VAULT_WITNESS_H

#include "base/error.h"

/* path and ca_file as the vault has them (vault/main.c); one question is answered. 0, or -1: what such a run would be
 * told. */
int witness_serve(int socket, const char *path, const char *ca_file, struct error *err);

#endif
