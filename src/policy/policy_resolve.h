/*
 * policy_resolve: path patterns as written to absolute, canonical ones.
 *
 * "~" is home, a relative pattern is below the work folder, "**" floats; a trailing slash goes. Characters of home and
 * work folder that a pattern would take for wildcards are escaped. Fails where the result is no pattern any more (too
 * long or too deep).
 */
#ifndef CORDON_POLICY_RESOLVE_H
#define CORDON_POLICY_RESOLVE_H

#include "base/error.h"
#include "model/policy.h"

struct resolve {
	const char *home;    /* absolute and canonical */
	const char *workdir; /* the same */
};

/* One pattern; with `literal` the text is a path, and nothing is escaped. NULL: no memory. */
const char *resolve_path(struct arena *a, const struct resolve *r, const char *text, bool literal);

/* All of a layer: lists, tests and phases. */
int policy_resolve(struct policy *p, const struct resolve *r, struct error *err);

#endif
