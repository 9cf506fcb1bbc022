/*
 * net_carry: what has been used of rates, over a change of the policy.
 *
 * A new generation of rules has new budgets. Where a rule is the same as before in all but its rate, its budget goes on
 * from where the old one was: a push or a saved file gives nobody a new start. It waits no longer than for one request
 * at its new rate (or a second), so that who raises a rate sees it at once.
 */
#ifndef CORDON_POLICY_NET_CARRY_H
#define CORDON_POLICY_NET_CARRY_H

#include "policy/net_rate.h"
#include "policy/net_rules.h"

/* now: nanoseconds, of the budgets' clock. False: no memory. */
bool net_carry(const struct ruleset *from, const struct net_budget *old, const struct ruleset *to,
	       struct net_budget *ret, uint64_t now);

#endif
