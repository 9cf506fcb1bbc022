/*
 * credential: what the operator's credentials.yaml says about one credential. Plain data, without its value.
 *
 * Lives in the arena of the file it was read from.
 */
#ifndef CORDON_VAULT_CREDENTIAL_H
#define CORDON_VAULT_CREDENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/policy.h"

enum source_kind { SOURCE_ENV, SOURCE_FILE, SOURCE_COMMAND };

struct credential_source {
	enum source_kind kind;
	const char **words; /* variables, or one path, or a command's arguments; NULL-terminated */
	uint32_t n;
};

enum inject_kind { INJECT_HEADER, INJECT_BASIC, INJECT_QUERY, INJECT_SIGV4 };

/* How a value is put into a request. Members that a kind does not use are "". */
struct inject_form {
	enum inject_kind kind;
	const char *name;		/* header (lower case) or query parameter */
	const char *before, *after;	/* header: around the value */
	const char *user;		/* basic */
	const char *region, *service;	/* sigv4 */
};

enum { CREDENTIAL_HOSTS_MAX = 256 };

struct credential {
	const char *name;
	struct credential_source from;
	const char **hosts; /* exact, or "*.name"; at least one, at most CREDENTIAL_HOSTS_MAX */
	uint32_t n_hosts;
	struct inject_form inject;
	const char *env;	  /* NULL: no variable inside */
	const char *verifier_env; /* NULL: no grant to verifiers */
	bool optional;		  /* without a value the run starts all the same (vault/known.h) */
	struct origin at;
};

struct credentials {
	struct arena *arena;
	struct credential *v;
	uint32_t n;
};

/* NULL: none of that name. */
const struct credential *credentials_find(const struct credentials *c, struct sv name);
void credentials_free(struct credentials *c); /* NULL is fine */

/* The credentials that the policy names, each once, where it is named first; how many there are, be it more than fit.
 */
size_t credentials_wanted(const struct policy *p, const struct pol_str **out, size_t max);

/* The i-th variable that is set to a placeholder inside, counted as enum grant_part of vault/grant.h; NULL: no more. */
const char *credential_variable(const struct credential *c, unsigned i);

/* host: lower case, no trailing dot; an address in any spelling. "*.name" stands for one or more labels below name,
 * never for name itself. */
bool credential_host_covers(const char *pattern, struct sv host);

#endif
