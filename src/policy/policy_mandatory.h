/*
 * policy_mandatory: what no policy can allow.
 *
 * Denied: nobody inside sees it. Protected: readable, but never written, made, removed or replaced in a folder of the
 * host, because something outside the sandbox would run it or take orders from it later.
 *
 * The tables are fixed at build time. They are added to every effective policy behind everything else, with origin
 * "built in".
 */
#ifndef CORDON_POLICY_MANDATORY_H
#define CORDON_POLICY_MANDATORY_H

#include "model/policy.h"

struct mandatory {
	const char *pattern; /* as base/glob.h has them */
	const char *reason;  /* why, in a few words that finish the sentence "it is denied because ..." */
};

/* Both are ended by a row without a pattern. */
extern const struct mandatory mandatory_deny[];
extern const struct mandatory mandatory_protect[];

/* The reason of a pattern of either table, or NULL. */
const char *mandatory_reason(const char *pattern);

/* Adds both tables. 0 or -1 (no memory). */
int mandatory_add(struct policy *p);

/* protect is exactly the table: the encoding leaves it out then, and a decoder puts it back. */
bool mandatory_is_protect(const struct pol_list *protect);
int mandatory_set_protect(struct policy *p);

#endif
