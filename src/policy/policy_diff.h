/*
 * policy_diff: what one effective policy allows that another does not.
 *
 * Compared by meaning, key by key: a rule that another rule already covers is no difference, whatever its text. Where
 * meaning cannot be told from the patterns (two wildcards that overlap in part) the difference is reported: the answer
 * "nothing more" can be trusted. It is about one work folder, or about any: then what follows from where it is, among
 * the folders of the rules, counts, too, but for one thing: a folder of `read` inside of a writable work folder, which
 * would be said of each that goes.
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

struct policy_diff_place {
	const char *workdir; /* by which both were compiled */
	bool any;            /* it stands for whichever a run will have */
};

struct policy_diff_result policy_diff_text(struct policy_diff_side a, struct policy_diff_side b,
					   struct policy_diff_place place, struct buf *out);
struct policy_diff_result policy_diff_json(struct policy_diff_side a, struct policy_diff_side b,
					   struct policy_diff_place place, struct buf *out);

#endif
