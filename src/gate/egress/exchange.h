/*
 * exchange: one request of the relay and its answer, from the link to a connection and back.
 *
 *	request -> checked, judged again -> (body collected and judged, where a rule or a signature wants it) -> a
 *		connection -> credential put in, written
 *	answer -> read strictly -> unfolded and scrubbed, where a credential is bound to the host -> counted, where it
 *		is a model's -> link
 *
 * Bodies stream both ways with back-pressure; what is held of each is bounded by the link's window and the
 * connection's. Collected are only bodies that must be seen whole before their first byte goes out: those of models
 * (gate/inference/judge.h), of rules with graphql or mcp, and of requests whose signature covers them.
 *
 * A request is sent a second time only where the connection was a used one, ended without a byte of an answer, and
 * nothing can have happened: no byte of its body was sent, and either there is one or the method is idempotent.
 */
#ifndef CORDON_GATE_EGRESS_EXCHANGE_H
#define CORDON_GATE_EGRESS_EXCHANGE_H

#include "gate/egress/egress.h"

/* Of the link; user is the egress. */
extern const struct link_events exchange_events;

/* The policy or the quota changed: ends what may no longer be. */
void exchanges_review(struct egress *e);
/* Other credentials have come: they are looked for in the answers that are under way. */
void exchanges_renew(struct egress *e);
/* Credentials have come, or no more will: what waits for one goes on. */
void exchanges_granted(struct egress *e);

/* All of them, when the program ends. */
void exchanges_free(struct egress *e);

#endif
