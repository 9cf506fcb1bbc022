/*
 * policy_fields: one table over the plain members of struct policy.
 *
 * Merging, the ceiling, defaults, path resolution and the encoding all walk it, so a new key is a row here, a row in
 * policy_parse.c and nothing else. Providers, routes, tests and phases have a shape of their own and are not in it.
 */
#ifndef CORDON_POLICY_FIELDS_H
#define CORDON_POLICY_FIELDS_H

#include "model/policy.h"

enum field_kind { FIELD_NUM, FIELD_LIST, FIELD_PAIRS, FIELD_RULES };

/* What the operator's ceiling does to a request's value. */
enum field_ceiling {
	CEILING_MIN,        /* the smaller number */
	CEILING_MIN_OR_ALL, /* the smaller number, where 0 stands for no limit */
	CEILING_WORKDIR,    /* the tighter mode */
	CEILING_WINS,       /* the ceiling's, where it has one; pairs: key by key */
	CEILING_UNION,      /* both lists */
	CEILING_COMMON,     /* what is in both lists */
	CEILING_PATTERNS,   /* path patterns in both lists */
	CEILING_STRICTEST,  /* pairs of `check`: the stricter verdict */
	CEILING_FREE,       /* the request's */
	CEILING_ELSEWHERE   /* policy_ceiling.c has code of its own for it */
};

struct policy_field {
	const char *name; /* as in a file: "filesystem.workdir"; NULL ends the table */
	size_t offset;    /* in struct policy */
	enum field_kind kind;
	enum field_ceiling ceiling;
	bool paths;     /* a list of path patterns, resolved against home and work folder */
	bool preset;    /* has a default */
	uint64_t value; /* the default */
	uint64_t max;   /* the largest value there can be, for enums and booleans; else UINT64_MAX */
};

extern const struct policy_field policy_fields[];

static inline void *policy_field_of(struct policy *p, const struct policy_field *f)
{
	return (char *)p + f->offset;
}

static inline const void *policy_field_in(const struct policy *p, const struct policy_field *f)
{
	return (const char *)p + f->offset;
}

/* Fills in defaults, with origin "built in". 0 or -1 (no memory). */
int policy_fields_preset(struct policy *p);

#endif
