/*
 * policy_load: from files and profile names to one effective policy.
 *
 * Steps: read each named file (at most POLICY_MAX_BYTES), parse, resolve `extends` (depth at most 16, no cycles), lay the
 * files over each other in the order given (lists add up, scalars override, deny always wins), intersect with the operator's ceiling
 * ($XDG_CONFIG_HOME/cordon/policy.yaml, where it exists: hosts, methods, paths, ports, models are intersected, limits take the minimum, denies
 * are united), fill in defaults, add the mandatory protections, resolve paths, validate.
 *
 * A profile is a name without "/": $XDG_CONFIG_HOME/cordon/profiles/NAME.yaml first, then the shipped ones, which are built in.
 *
 * Every error of a file's content is ERROR_INPUT with "file:line:column: key: what; what to do".
 *
 * The result of a load is cached below $XDG_CACHE_HOME/cordon (or ~/.cache/cordon), keyed by the digest of all its inputs, in the wire format of policy_codec.h; a
 * cache that cannot be read, written or trusted (owner, mode, digest) is passed over silently: it only saves time.
 */
#ifndef CORDON_POLICY_LOAD_H
#define CORDON_POLICY_LOAD_H

#include "base/error.h"
#include "model/policy.h"

enum { POLICY_MAX_BYTES = 8 << 20, POLICY_MAX_DEPTH = 16, POLICY_MAX_NESTING = 32 };

struct policy_source {
	const char *name; /* profile name, or path */
	bool is_profile;
};

struct policy_request {
	const struct policy_source *sources; /* none: profile "default" */
	size_t n_sources;
	const char *home;	/* absolute; ~ means this */
	const char *config_dir; /* $XDG_CONFIG_HOME/cordon; may not exist */
	const char *cache_dir;	/* $XDG_CACHE_HOME/cordon; NULL: no cache */
	const char *workdir;	/* absolute and canonical; relative paths in a policy given on the command line are below the file's own folder */
	bool no_ceiling;	/* `policy check FILE` judges the file alone */
};

/* On success *ret is the effective policy (policy_free()) and digest its SHA-256 in hex (over the canonical encoding). */
int policy_load(const struct policy_request *req, struct policy **ret, char digest[65], struct error *err);

/* "file:line" of a value, in storage that lives as long as the policy. "built in" where there is none. */
const char *policy_where(const struct policy *p, struct origin at);

#endif
