/*
 * policy_test: runs the `tests:` of an effective policy against its own answers.
 *
 * Paths have been resolved by the loader. Text is one line per expectation, with the deciding
 * rule and its line for those that fail; JSON is {"passed", "failed", "tests": [...]}. Failure of output is the
 * buffer's.
 */
#ifndef CORDON_POLICY_TEST_H
#define CORDON_POLICY_TEST_H

#include "base/buf.h"
#include "model/policy.h"
#include "policy/policy_query.h"

struct policy_test_result {
	uint32_t passed;
	uint32_t failed;
};

/* One expectation. True where it holds; ret says what the policy answers. */
bool policy_test_one(const struct policy *p, const char *workdir, const struct pol_test *t, struct reason *ret);

/* workdir may be NULL. verbose: passed ones are printed too. */
struct policy_test_result policy_test_text(const struct policy *p, const char *workdir, bool verbose, struct buf *out);
struct policy_test_result policy_test_json(const struct policy *p, const char *workdir, struct buf *out);

/* "host", "[v6]", "host:443": the port, or 0. False: the port is no port. host is cut into the given array. */
bool policy_split_host(const char *target, char host[256], uint16_t *ret_port);

#endif
