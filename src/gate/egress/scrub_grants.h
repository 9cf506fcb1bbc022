/*
 * scrub_grants: a scrub (scrub.h) for all values of some grants, each replaced by its own placeholder.
 */
#ifndef CORDON_GATE_EGRESS_SCRUB_GRANTS_H
#define CORDON_GATE_EGRESS_SCRUB_GRANTS_H

#include "gate/egress/scrub.h"
#include "vault/grant.h"

/* As scrub_new(). The grants may be freed after it. */
int scrub_from_grants(struct grant *const *grants, size_t n, struct scrub **ret);

#endif
