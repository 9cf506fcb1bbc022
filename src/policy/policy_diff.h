/*
 * policy_diff: what one effective policy allows that another does not.
 *
 * Compared by meaning, key by key: a rule that another rule already covers is no difference, whatever its text. Where
 * meaning cannot be told from the patterns (two wildcards that overlap in part) the difference is reported: the answer
 * "nothing more" can be trusted.
 *
 * Failure is the buffer's (buf_failed()).
 */
#ifndef CORDON_POLICY_DIFF_H
#define CORDON_POLICY_DIFF_H

#include "base/buf.h"
#include "model/policy.h"

struct policy_diff_side {
	const struct policy *policy;
	const char *name; /* as the person gave it */
};

struct policy_diff_result {
	uint32_t more; /* what b allows and a does not */
	uint32_t less; /* what a allows and b does not */
};

struct policy_diff_result policy_diff_text(struct policy_diff_side a, struct policy_diff_side b, const char *workdir,
					   struct buf *out);
struct policy_diff_result policy_diff_json(struct policy_diff_side a, struct policy_diff_side b, const char *workdir,
					   struct buf *out);

#endif
