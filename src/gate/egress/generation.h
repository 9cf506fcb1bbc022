/*
 * generation: one policy as egress judges by it: decoded, compiled, with the state of its rates.
 *
 * Never changed but for the rates; counted references, so that whoever looks at a rule of it can hold it over a reload.
 */
#ifndef CORDON_GATE_EGRESS_GENERATION_H
#define CORDON_GATE_EGRESS_GENERATION_H

#include <stdint.h>

#include "base/error.h"
#include "policy/net_rate.h"
#include "policy/net_recent.h"

struct generation {
	unsigned refs;
	uint64_t number;
	struct policy *policy;
	struct ruleset *rules;
	struct net_recent *recent;
	struct net_budget *budgets;
};

/*
 * fd: the bytes of policy_codec.h, from its start; stays the caller's.
 * before: the one that it takes the place of, or NULL (net_rules_after()).
 */
int generation_read(int fd, uint64_t number, const struct generation *before, struct generation **ret,
		    struct error *err);
struct generation *generation_ref(struct generation *g);
void generation_unref(struct generation *g); /* NULL is fine */

/* Does anything in the policy need a credential? */
bool generation_needs_grants(const struct generation *g);

#endif
