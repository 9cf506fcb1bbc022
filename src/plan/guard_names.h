/*
 * guard_names: guards by their text, to be found without a look at each: what links lead to can be thousands.
 *
 * A pattern without wildcards is found by the path that it means, and by each folder on the way there. One with
 * wildcards is found by its text alone, which no such path can be: it has a wildcard in it. Borrows the patterns'
 * texts; guards are known by a number of the caller's.
 */
#ifndef CORDON_PLAN_GUARD_NAMES_H
#define CORDON_PLAN_GUARD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "model/plan.h"

enum { GUARD_NONE = UINT32_MAX };

struct guard_name {
	struct sv name; /* empty: no entry */
	uint32_t hides, protects, yields, way; /* the first that does so at this name (protects always, or yields), or
						  has it on its way; GUARD_NONE */
};

/* Empty at first: {0}, or with an arena. */
struct guard_names {
	struct guard_name *v; /* a hash table, open addressing */
	size_t n, room;
	struct arena *arena; /* that the table is from; NULL: the heap */
	uint32_t *wild; /* the numbers of those with wildcards, in their order */
	size_t n_wild, wild_room;
};

/* 0 or -ENOMEM. */
int guard_names_expect(struct guard_names *s, size_t n); /* so many names, so that there is room for them from the
							    beginning; n is no number of a stranger's */
int guard_names_add(struct guard_names *s, const struct plan_guard *guard, uint32_t number);
const struct guard_name *guard_names_find(const struct guard_names *s, struct sv name);
void guard_names_done(struct guard_names *s);

#endif
