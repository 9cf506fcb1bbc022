/*
 * tunnel: connections that the relay asked for and carries the bytes of itself.
 *
 * The connected socket goes to the relay; a copy stays here to count what was sent, and to cut it: when a policy comes
 * that forbids it, or when the run has sent all it may.
 *
 * With a bound on what may be sent the relay asks before it sends (GATE_TUNNEL_WANT): what it is granted counts as sent
 * at once, so that all tunnels and requests together never pass the bound. For a relay that does not ask, because it
 * was taken over or does not have the policy yet, the kernel is asked to pace the connection, and what went out beyond
 * what was granted is counted when it is seen.
 *
 * What the relay says is checked: an id that is in use, or a message that is none, ends egress.
 */
#ifndef CORDON_GATE_EGRESS_TUNNEL_H
#define CORDON_GATE_EGRESS_TUNNEL_H

#include "wire/wire.h"

struct egress;
struct tunnels;

enum {
	TUNNELS_MAX = 16384,
	TUNNELS_LOOK = 100 /* ms between two looks at those that have a bound; and for what was granted to leave, before
			      all are cut */
};

struct tunnels *tunnels_new(struct egress *e); /* NULL: no memory */
void tunnels_free(struct tunnels *t);	       /* NULL is fine; closes all */

/* A message from the relay. 0, or -EPROTO. */
int tunnels_message(struct tunnels *t, const struct wire_message *m);
/* The relay's socket has room again. */
void tunnels_writable(struct tunnels *t);

/* The policy or the quota changed: cuts what may no longer be. */
void tunnels_review(struct tunnels *t);

/* Counts what was sent since the last look. */
void tunnels_count(struct tunnels *t);

#endif
