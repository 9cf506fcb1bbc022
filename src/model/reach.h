/*
 * reach: which connections that are dialled by address could be allowed by a policy, so that the rest can be refused
 * before it is made.
 *
 * Never less than what the policy allows: what the gateway's judge may say yes to is redirected to it, and judged
 * there; what is left is refused by the kernel at once. More than that where a policy has more ranges and ports than
 * there are rows for: then everything goes to the judge, and a connection that it refuses is one that is cut.
 */
#ifndef CORDON_MODEL_REACH_H
#define CORDON_MODEL_REACH_H

#include "model/policy.h"
#include "sys/redirect.h"

/* Where the addresses lie that stand for names (gate/relay/synthetic.h). */
#define REACH_NAMES4 "198.18.0.0/15"
#define REACH_NAMES6 "100::/64"

void reach_of(const struct policy *p, struct redirect *ret);

/* Everything goes to the judge. */
void reach_all(struct redirect *ret);

#endif
