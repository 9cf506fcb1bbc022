/*
 * synthetic: addresses that stand for names, handed out by the policy's DNS for clients that dial by themselves.
 *
 * A client that knows no proxy looks a name up and dials the address; the transparent path sees only the address, and
 * needs the name back to judge it, to check it against what the client says (SNI, Host), and to resolve it outside.
 * Each name gets one address of each family, and an address means that one name for the whole run: none is used again,
 * so a cached answer never leads elsewhere. When 65,536 names have theirs, further ones get none.
 *
 * The addresses are from 198.18.0.0/15 (benchmarks, RFC 2544) and 100::/64 (discard, RFC 6666): nobody serves anything
 * from either, routers drop what leaks, and both lie under the floor (address.h), so that one taken for a real address
 * outside is refused. A ULA prefix would be somebody's.
 */
#ifndef CORDON_GATE_RELAY_SYNTHETIC_H
#define CORDON_GATE_RELAY_SYNTHETIC_H

#include "model/address.h"

enum { SYNTHETIC_NAMES = 65536 };

struct synthetic;

struct synthetic *synthetic_new(void);    /* NULL: no memory */
void synthetic_free(struct synthetic *s); /* NULL is fine */

/* The addresses of a name (lower case, no trailing dot, 1 to 253 bytes). 0, -ENOSPC, -ENOMEM or -EINVAL. */
int synthetic_address(struct synthetic *s, struct sv name, struct address *ret4, struct address *ret6);

/* The name of an address, which lives as long as s. False: it was never handed out. */
bool synthetic_name(const struct synthetic *s, const struct address *a, struct sv *ret);

/* It lies in one of the two ranges, handed out or not. */
bool synthetic_is(const struct address *a);

#endif
