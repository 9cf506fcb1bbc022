/*
 * profile: the seccomp profile that a container runtime installs for cordon-init, as JSON that runc, crun and Docker
 * Engine read.
 *
 * It is wide: every system call that the filter of workloads (filter.h) knows, those that it refuses included, and
 * nothing else; no foreign architecture. Its children get the tight filter before they run anything of the workload's.
 * What the tight filter refuses must not be refused here, or the answer would be this profile's: no event would tell of
 * it.
 */
#ifndef CORDON_SANDBOX_PROFILE_H
#define CORDON_SANDBOX_PROFILE_H

#include "base/json.h"

/* One JSON object. */
void profile_write(struct json *j);

#endif
