/*
 * net_past: the hosts that got a credential by earlier policies of a run, be it as a provider.
 *
 * They may say its value as long as they know it, which no change of the policy ends: so what they say stays looked
 * into until the run is over. Kept is who they are, by name or by "*.name" as their rules had it, on which ports, and
 * the credential's name, and nothing else of these rules; each once, however many policies came. Never changed, and
 * owns what it points to.
 */
#ifndef CORDON_POLICY_NET_PAST_H
#define CORDON_POLICY_NET_PAST_H

#include "policy/net_match.h"

struct net_past;

/* Those of `before` (NULL: none), and those of p. NULL: no memory. */
struct net_past *net_past_new(const struct net_past *before, const struct policy *p);
void net_past_free(struct net_past *past); /* NULL is fine */

/* The host gets the credential by the policy in force, too. */
typedef bool net_past_still_fn(const void *arg, const struct net_host *h, const char *credential);

/*
 * May the host, or an address that it carries in itself, say on this port what it got before? It was sent to the port;
 * or it is one of which `still` says no: then nothing in the policy tells any more on which ports the host knows it.
 * past: NULL is fine.
 */
bool net_past_knows(const struct net_past *past, const struct net_host *h, uint16_t port, net_past_still_fn *still,
		    const void *arg);

#endif
