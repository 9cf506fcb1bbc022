/*
 * ceiling_door: the hosts of providers below a ceiling. Part of policy_ceiling.h, whose contract holds here.
 *
 * Mode public opens everything but the hosts of its policy's providers, which have a door of their own. So what one
 * side opens by mode public is without the hosts of that side's providers, also where the provider is not in the
 * result, which would keep its host shut by itself. Where rules of both sides are for such a host they open it as
 * elsewhere, but nothing else does: it is in network.doors. Else it is denied.
 */
#ifndef CORDON_POLICY_CEILING_DOOR_H
#define CORDON_POLICY_CEILING_DOOR_H

#include "base/error.h"
#include "model/policy.h"
#include "policy/net_match.h"

/* Is one of the providers at this address, which is its host's text? Denied by name it would be shut to the provider's
 * own door, too, so that no rule is to open it instead. */
bool ceiling_door_address(const struct pol_inference *inf, const char *host);

/* Denies the host. */
int ceiling_door_shut(struct policy *request, const struct net_host *h, struct origin at, struct error *err);

/* Call when all is tightened. asked: the request's inference as it was. */
int ceiling_doors(struct policy *request, const struct pol_inference *asked, const struct policy *ceiling,
		  struct error *err);

#endif
