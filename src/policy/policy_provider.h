/*
 * policy_provider: inference providers made whole: kind, address and base URL variable where the name already says
 * them.
 */
#ifndef CORDON_POLICY_PROVIDER_H
#define CORDON_POLICY_PROVIDER_H

#include "base/error.h"
#include "model/policy.h"

/* Fills in defaults of every provider of a layer, or says what is missing. */
int policy_providers_complete(struct policy *p, struct error *err);

/* Routes name providers that are there, no two providers share a variable. For the request, before the ceiling takes
 * some away. */
int policy_providers_check(const struct policy *p, struct error *err);

/* Is its url the one that providers of its kind have by themselves? */
bool policy_provider_is_known(const struct provider *v);

#endif
