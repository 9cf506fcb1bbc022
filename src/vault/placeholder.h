/*
 * placeholder: what the sandbox holds in place of a credential.
 *
 * It looks valid to the libraries that check a key's form before they send it (prefix, length, alphabet). The form is
 * chosen by the variable's name, the bound hosts and the credential's name, in this order; the rest is random, new for
 * each run. Nothing of it depends on the value, not even the length: making one does not take a value.
 */
#ifndef CORDON_VAULT_PLACEHOLDER_H
#define CORDON_VAULT_PLACEHOLDER_H

#include "vault/credential.h"

enum { PLACEHOLDER_SIZE = 192 };

struct placeholder {
	char s[PLACEHOLDER_SIZE];
};

/* 0 or -errno (no random numbers). With sigv4 this is the secret key's. */
int placeholder_make(const struct credential *c, struct placeholder *ret);
/* An AWS access key id. */
int placeholder_make_key_id(struct placeholder *ret);

#endif
