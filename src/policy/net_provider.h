/*
 * net_provider: which addresses the host of a model provider may lead to.
 *
 * Local and private ones are fine, because that is where people run models; those that nobody serves a model from are
 * not. Below a ceiling that does not name the provider (enum provider_reach) the denials of the policy hold, and a name
 * leads to public addresses only, so that a request cannot come by a name to what its ceiling keeps shut.
 */
#ifndef CORDON_POLICY_NET_PROVIDER_H
#define CORDON_POLICY_NET_PROVIDER_H

#include "policy/net_rules.h"

/* The rule is for the host, or for an address that it carries in itself. */
bool net_provider_rule_is_for(const struct net_rule *r, const struct net_host *h);

/* May it? fixed: the address is the operator's own answer for the name. WHY_RULE; else WHY_DENIED or WHY_FLOOR. */
enum net_why net_provider_address(const struct policy *p, const struct provider *provider, const struct address *a,
				  const struct net_request *request, bool fixed);

#endif
