/*
 * policy_show: a policy as text that could be read back.
 *
 * YAML with, on request, "# file:line" behind each value, and what every policy denies and protects as a comment (it is
 * in no file, and a reader would refuse it, or take a denial for more than it is). JSON has the same shape; each value
 * is {"value": ..., "from": "file:line"}. Unset values are left out. Untrusted text cannot break out of its scalar.
 *
 * Failure is the buffer's (buf_failed()).
 */
#ifndef CORDON_POLICY_SHOW_H
#define CORDON_POLICY_SHOW_H

#include "base/buf.h"
#include "model/policy.h"

enum policy_show_flags {
	POLICY_SHOW_FROM = 1,    /* where each value comes from */
	POLICY_SHOW_PROTECT = 2, /* the mandatory protections */
};

void policy_show_yaml(const struct policy *p, unsigned flags, struct buf *out);
void policy_show_json(const struct policy *p, struct buf *out);

/* How a value is written: kinds of numbers, for `show`, `explain` and `diff`. */
enum policy_unit { UNIT_COUNT, UNIT_SIZE, UNIT_DURATION, UNIT_CPUS, UNIT_BOOL, UNIT_RATE };
struct policy_number {
	char s[32];
};
const char *policy_show_number(struct policy_number *out, enum policy_unit unit, uint64_t v);

/* "allow: {read: /usr/bin/env}" */
void policy_show_test(const struct pol_test *t, struct buf *out);

#endif
