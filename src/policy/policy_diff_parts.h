/*
 * policy_diff_parts: what the parts of policy_diff share. Not for others.
 *
 * Each part walks what `b` grants and reports with diff_item() what `a` does not.
 */
#ifndef CORDON_POLICY_DIFF_PARTS_H
#define CORDON_POLICY_DIFF_PARTS_H

#include "base/json.h"
#include "model/policy.h"

struct diff {
	const struct policy *a;
	const struct policy *b;
	const char *workdir;
	bool anywhere; /* that is only where relative patterns are; the work folder may be any */
	struct buf *out;
	struct json *json; /* NULL: text */
	char sign;         /* '+' or '-', before each line of text */
	uint32_t n;        /* items so far */
};

/* key: "filesystem.write". of: whose origin it is. */
void diff_item(struct diff *d, const char *key, const struct policy *of, struct origin at, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* "no longer denies" where b allows more for it; "now denies" in the other direction, where a reader looks for what a
 * has and b has not. */
const char *diff_word(const struct diff *d, const char *more, const char *less);

void diff_filesystem(struct diff *d);
void diff_network(struct diff *d);
void diff_inference(struct diff *d);

/* A limit where unset means none. */
void diff_limit(struct diff *d, const char *key, int unit, const struct pol_num *a, const struct pol_num *b);

#endif
