/*
 * changes_rules: what a policy says about names that come back from a sandbox, as patterns for supervise/changes.h.
 */
#ifndef CORDON_CLI_CHANGES_RULES_H
#define CORDON_CLI_CHANGES_RULES_H

#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "model/plan.h"
#include "model/policy.h"
#include "supervise/changes.h"

struct changes_patterns {
	struct glob *deny, *protect, *read;
	size_t n_deny, n_protect, n_read;
};

/* plan: of the run that the names come from, whose own files are protected too; NULL where the policy was encoded by
 * changes_policy_encode(). All of its patterns, or a failure; done in either case. */
int changes_patterns_init(struct changes_patterns *p, const struct policy *policy, const struct plan *plan,
			  struct error *err);
void changes_patterns_done(struct changes_patterns *p);

/* The patterns stay p's. */
void changes_rules_take(struct changes_rules *rules, const struct changes_patterns *p);

/* The policy as `apply` is to read it, with the run's own files in it. */
int changes_policy_encode(const struct policy *policy, const struct plan *plan, struct buf *out, struct error *err);

#endif
