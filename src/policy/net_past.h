/*
 * net_past: the hosts that got a credential by earlier policies of a run, be it as a provider.
 *
 * They may say its value as long as they know it, which no change of the policy ends: so what they say stays looked
 * into until the run is over. Kept is who they are, by name or by "*.name" as their rules had it, and nothing else of
 * these rules; each once, however many policies came. Never changed, and owns what it points to.
 */
#ifndef CORDON_POLICY_NET_PAST_H
#define CORDON_POLICY_NET_PAST_H

#include "policy/net_match.h"

struct net_past;

/* Those of `before` (NULL: none), and those of p. NULL: no memory. */
struct net_past *net_past_new(const struct net_past *before, const struct policy *p);
void net_past_free(struct net_past *past); /* NULL is fine */

/* Is the host among them, or an address that it carries in itself? past: NULL is fine. */
bool net_past_has(const struct net_past *past, const struct net_host *h);

#endif
