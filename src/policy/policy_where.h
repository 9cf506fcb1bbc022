/*
 * policy_where: where a value came from, for people.
 */
#ifndef CORDON_POLICY_WHERE_H
#define CORDON_POLICY_WHERE_H

#include "base/error.h"
#include "model/policy.h"

/* "file:line" of a value, escaped, in storage that lives as long as the policy. "built in" where there is none. */
const char *policy_where(const struct policy *p, struct origin at);

/* ERROR_INPUT with "file:line:column: key: " in front ("built in: key: " where there is no file). Returns -1. */
int policy_fail(const struct policy *p, struct origin at, const char *key, struct error *err, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

int policy_no_memory(struct error *err);

#endif
