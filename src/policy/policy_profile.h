/*
 * policy_profile: the profiles that are shipped inside the executable. The table is made at build time from profiles/
 * (see embed_main.c), sorted by name.
 */
#ifndef CORDON_POLICY_PROFILE_H
#define CORDON_POLICY_PROFILE_H

#include "base/sv.h"

struct policy_profile {
	const char *name; /* NULL ends the table */
	struct sv text;   /* the YAML file's bytes */
};

extern const struct policy_profile policy_profiles[];

/* The names alone, NULL-terminated: for completion, doctor and "did you mean". */
extern const char *const policy_profile_names[];

#endif
