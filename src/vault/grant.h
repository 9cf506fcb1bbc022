/*
 * grant: one credential of a run, value included, as the vault hands it to egress.
 *
 * Its texts live in its arena, its values in secrets of their own; grant_free() ends both. The encoding holds the
 * values in the clear: only for the socket between vault and egress, and the caller wipes the buffer it was put into
 * (grant_encode() needs one large enough from the start, see there).
 */
#ifndef CORDON_VAULT_GRANT_H
#define CORDON_VAULT_GRANT_H

#include "base/buf.h"
#include "base/secret.h"
#include "vault/credential.h"

/* What a value consists of: one part, or with sigv4 the secret key and its id, and a session token where there is one.
 */
enum grant_part { PART_VALUE, PART_KEY_ID, PART_TOKEN, GRANT_PARTS };

/* A value must be findable in an answer (vault/needle.h) and fit into a head. */
enum { GRANT_VALUE_MIN = 6, GRANT_VALUE_MAX = 8192 };

struct grant {
	struct arena *arena;
	const char *name;
	const char **hosts;
	uint32_t n_hosts;
	struct inject_form inject;
	struct secret *parts[GRANT_PARTS];	     /* NULL: there is none */
	const char *placeholders[GRANT_PARTS]; /* in place of each part; never NULL */
};

/* Is the credential bound to this host (lower case, no trailing dot)? */
bool grant_covers(const struct grant *g, struct sv host);

/* Appends. The buffer must have room for GRANT_ENCODED_MAX bytes already, so that no copy with a value in it is left
 * behind by growing: -ENOSPC. */
enum { GRANT_ENCODED_MAX = 96 * 1024 };
int grant_encode(const struct grant *g, struct buf *out);

/* -EPROTO: not an encoding, or one that no vault would send; -ENOMEM. */
int grant_decode(struct sv bytes, struct grant **ret);
void grant_free(struct grant *g); /* NULL is fine */

#endif
