/*
 * policy_cover: comparing patterns with patterns.
 *
 * Every answer is a proof or "no": covers() is true only where everything that inner matches is matched by outer,
 * apart() only where no text matches both. Where neither holds the patterns overlap, or we cannot tell. Pure.
 */
#ifndef CORDON_POLICY_COVER_H
#define CORDON_POLICY_COVER_H

#include <stdbool.h>

#include "base/glob.h"
#include "model/policy.h"

struct cover_kind {
	bool (*covers)(const char *outer, const char *inner);
	bool (*apart)(const char *a, const char *b);
};

extern const struct cover_kind cover_path;  /* path patterns, absolute or floating; a match covers all below it */
extern const struct cover_kind cover_url;   /* URL paths of network rules */
extern const struct cover_kind cover_model; /* names of models */

/* Any pattern of the list covers inner. */
bool cover_by_list(const struct cover_kind *kind, const struct pol_list *list, const char *inner);

/*
 * What both lists allow: patterns of one that the other covers. 0; -1: no memory; 1: *ret_a and *ret_b overlap in a way
 * that is neither. `out` is set, and may end up empty.
 */
int cover_intersect(const struct cover_kind *kind, struct arena *a, const struct pol_list *x, const struct pol_list *y,
		    struct pol_list *out, const struct pol_str **ret_a, const struct pol_str **ret_b);

#endif
