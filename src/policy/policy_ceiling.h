/*
 * policy_ceiling: what a request may keep of itself below the operator's ceiling.
 *
 * The result allows nothing that the ceiling denies: hosts, ports, methods, paths, models and executables are
 * intersected, limits take the minimum, denials are united. A key that the ceiling does not give puts no bound on the
 * request. Where an intersection cannot be written down, or the request asks for what the ceiling cannot grant in part
 * (a folder, a runtime, another provider under a known name), loading is refused and both places are named.
 *
 * Both are layers of one compilation (same arena, same file table) with paths resolved and providers completed
 * (policy_provider.h).
 */
#ifndef CORDON_POLICY_CEILING_H
#define CORDON_POLICY_CEILING_H

#include "base/error.h"
#include "model/policy.h"

/* Rules of a network list after intersection, at most. */
enum { CEILING_MAX_RULES = 200000 };

/* Tightens request in place. workdir: absolute, canonical. On failure request is useless. */
int policy_ceiling(struct policy *request, const struct policy *ceiling, const char *workdir, struct error *err);

#endif
