/*
 * ceiling_fs: the folders of a request below those of the ceiling. Part of policy_ceiling.h, whose contract holds here.
 *
 * It is not enough that each pattern of the request lies below one of the ceiling's: for a path that several rules
 * show, the deepest one decides. So a wide rule of the ceiling does not open what the ceiling keeps narrower further
 * down: a read-only folder inside a writable one, a work folder that is not writable, the base system's own rows.
 */
#ifndef CORDON_POLICY_CEILING_FS_H
#define CORDON_POLICY_CEILING_FS_H

#include "base/error.h"
#include "model/policy.h"

/* Call after the work folder's mode is tightened. Adds the ceiling's read-only folders that lie inside what the request
 * may write. */
int ceiling_fs(struct policy *request, const struct policy *ceiling, const char *workdir, struct error *err);

#endif
