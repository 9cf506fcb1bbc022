/*
 * runtime_choice: which runtimes a run may use, in order, and why.
 *
 * The first is the one that is wanted: the runtime by name where policy or command line have one, else the category's,
 * else native. The others are what process.fallback lists, in its order: they may take its place where it is missing or
 * not healthy, and for no other reason. Nothing else may: an empty list is a refusal.
 *
 * The policy is an effective one. What the operator's ceiling forbids has been refused when it was compiled, --runtime
 * included (policy_ceiling.h); this only reads.
 */
#ifndef CORDON_POLICY_RUNTIME_CHOICE_H
#define CORDON_POLICY_RUNTIME_CHOICE_H

#include "base/buf.h"
#include "model/policy.h"

enum { RUNTIMES = RUNTIME_DOCKER + 1 };

struct runtime_candidate {
	enum runtime runtime; /* never RUNTIME_AUTO */
	char reason[320];     /* what names it, with its place: "process.runtime, policy.yaml:3"; escaped */
};

struct runtime_choice {
	struct runtime_candidate v[RUNTIMES]; /* each runtime once */
	unsigned n;			      /* at least 1 */
	const char *category;		      /* NULL: none was given */
};

/* The runtime of a category: what the pairs say, else (and where they say auto) Cordon's own choice. pairs may be NULL.
 */
enum runtime runtime_of_category(const struct pol_pairs *pairs, const char *category);

/* asked: --runtime, as the policy was compiled with; category: a name of category_names; either may be NULL. */
void runtime_choose(const struct policy *p, const char *asked, const char *category, struct runtime_choice *ret);

/* Which line of a policy would let a run go on where none of them works; a sentence without its full stop. */
void runtime_advise(const struct policy *p, const struct runtime_choice *choice, struct buf *out);

#endif
