/*
 * policy_ceiling: what a request may keep of itself below the operator's ceiling.
 *
 * The result allows nothing that the ceiling denies: hosts, ports, methods, paths, models and executables are
 * intersected, limits take the minimum, denials are united, a route holds whichever side has it. A key that the ceiling
 * does not give puts no bound on the request. Where an intersection cannot be written down, or the request asks for
 * what the ceiling cannot grant in part (a folder, a runtime, another provider under a known name), loading is refused
 * and both places are named.
 *
 * A runtime is no amount of something: none of them is "less" than another, so a ceiling's runtime is the only one, for
 * a request in a file and for --runtime alike, and what a ceiling says of a category holds against a runtime by name,
 * too. What may take its place is the ceiling's to say: where it names runtimes and no fallback, a request's fallback
 * is void.
 *
 * Both are layers of one compilation (same arena, same file table) with paths resolved and providers completed
 * (policy_provider.h).
 */
#ifndef CORDON_POLICY_CEILING_H
#define CORDON_POLICY_CEILING_H

#include "base/error.h"
#include "model/policy.h"
#include "policy/policy_compile.h"

/* Rules of a network list after intersection, at most. */
enum { CEILING_MAX_RULES = 200000 };

/* Tightens request in place. req: what is being compiled. On failure request is useless. */
int policy_ceiling(struct policy *request, const struct policy *ceiling, const struct policy_request *req,
		   struct error *err);

/*
 * The same by what a task asks for: of the network and of limits alone. A task that wants no network has said nothing
 * against models, which are the operator's to give: access to them is not access to the network.
 */
int policy_bound(struct policy *request, const struct policy *bound, const struct policy_request *req,
		 struct error *err);

#endif
