/*
 * ceiling_net: the network rules of a request below those of the ceiling. Part of policy_ceiling.h, whose contract
 * holds here.
 */
#ifndef CORDON_POLICY_CEILING_NET_H
#define CORDON_POLICY_CEILING_NET_H

#include "base/error.h"
#include "model/policy.h"

/* Both modes as their files have them: call before request->net.mode is tightened. */
int ceiling_net(struct policy *request, const struct policy *ceiling, struct error *err);

#endif
