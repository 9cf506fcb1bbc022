/*
 * changes_rules: what a policy says about names that come back from a sandbox, as patterns for supervise/changes.h.
 */
#ifndef CORDON_CLI_CHANGES_RULES_H
#define CORDON_CLI_CHANGES_RULES_H

#include "base/error.h"
#include "base/glob.h"
#include "model/policy.h"
#include "supervise/changes.h"

struct changes_patterns {
	struct glob *deny, *protect;
	size_t n_deny, n_protect;
};

int changes_patterns_init(struct changes_patterns *p, const struct policy *policy, struct error *err);
void changes_patterns_done(struct changes_patterns *p);

/* The patterns stay p's. */
void changes_rules_take(struct changes_rules *rules, const struct changes_patterns *p);

#endif
