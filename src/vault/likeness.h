/*
 * likeness: are a run's credentials those that another run would have now? Told by a keyed digest (HMAC-SHA-256), so
 * that a value is known to two processes only that have it anyway: the run's vault, and a witness (vault/witness.h)
 * that was started where the other run would be. The key is a random number of whoever asks, for one question; neither
 * it nor the digest is ever stored.
 *
 * In it, of each credential that the run uses: its name, source, hosts, how it is injected, its variable, and its value
 * or that there is none. Of a command, whose values it refreshes itself, in place of the value what decides which one
 * it is: where it runs, and the variables that it gets to find things by, the session's bus among them, where keyrings
 * are; but not its language, terminal and ssh agent, which differ from login to login and say who may ask rather than
 * for what (source.h). And of all of them: the certificates of gateway.yaml's ca_file, and what the asker adds.
 *
 * Order: likeness_new(), likeness_add() for each, in the order of the credentials, likeness_end().
 */
#ifndef CORDON_VAULT_LIKENESS_H
#define CORDON_VAULT_LIKENESS_H

#include <stdbool.h>

#include "base/secret.h"
#include "base/sha256.h"
#include "vault/grant.h"

enum { LIKENESS_NONCE = 32, LIKENESS_SIZE = 32 };

/* What a run has besides its credentials. */
struct likeness_base {
	unsigned char ca[SHA256_SIZE]; /* of ca_file's bytes; zeros: none */
	unsigned char here[SHA256_SIZE]; /* of where commands run, and with which variables */
	bool nowhere;			 /* that is not known, and then nothing with a command is like it */
};

/* Fills in where commands run: here. A role that has been confined has no variables any more. */
void likeness_here(struct likeness_base *base);

struct likeness;

/* NULL: no memory, or a nonce of another size. */
struct likeness *likeness_new(const struct likeness_base *base, struct sv nonce, struct sv about);
void likeness_add(struct likeness *l, const struct credential *c, struct secret *const parts[GRANT_PARTS]);
/* Ends and frees it, NULL too. 0 or -1: something was missing on the way. */
int likeness_end(struct likeness *l, unsigned char ret[LIKENESS_SIZE]);

#endif
