/*
 * policy_load: from files and profile names to one effective policy.
 *
 * Steps: read each named file (at most POLICY_MAX_BYTES), parse, resolve `extends` (depth at most 16, no cycles), lay
 * the files over each other in the order given (lists add up, scalars override, deny always wins), fill in defaults,
 * intersect with the operator's ceiling
 * ($XDG_CONFIG_HOME/cordon/policy.yaml, where it exists: hosts, methods, paths, ports, models are intersected, limits
 * take the minimum, denies are united), add the mandatory protections, resolve paths, validate. All of it but the
 * reading is policy_compile.h, and happens in a process of its own that can do nothing else (policy_role.h).
 *
 * A profile is a name without "/" and ".": $XDG_CONFIG_HOME/cordon/profiles/NAME.yaml first, then the shipped ones,
 * which are built in. An operator's profile that extends its own name means the shipped one. A file that `extends`
 * names is relative to the file that names it.
 *
 * Every error of a file's content is ERROR_INPUT with "file:line:column: key: what; what to do".
 *
 * The result of a load is cached below $XDG_CACHE_HOME/cordon (or ~/.cache/cordon); see policy_cache.h.
 */
#ifndef CORDON_POLICY_LOAD_H
#define CORDON_POLICY_LOAD_H

#include "base/error.h"
#include "model/policy.h"
#include "policy/policy_compile.h"
#include "policy/policy_where.h"

/* On success *ret is the effective policy (policy_free()) and digest its SHA-256 in hex (over the canonical encoding).
 */
int policy_load(const struct policy_request *req, struct policy **ret, char digest[65], struct error *err);

/* The name of the shipped profile that one of policy.files stands for; NULL: it is the path of a file. */
const char *policy_shipped(const char *file);

#endif
