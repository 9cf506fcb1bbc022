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

/*
 * For comparing two effective policies: does `by` open what the pattern of `of` opens, for writing or for reading? Then
 * `narrow` has what `by` keeps read-only in it and `of` does not. The work folder is a pattern of its own, and taken
 * for open in both as its mode says; ceiling_fs_narrow() has what is to be kept of it where both may write to it, 0 or
 * -1 (no memory). All in the arena of `of`.
 */
bool ceiling_fs_opens(const struct policy *by, const struct policy *of, const char *workdir, struct pol_str pattern,
		      bool write, struct pol_list *narrow);
int ceiling_fs_narrow(const struct policy *by, const struct policy *of, const char *workdir, struct pol_list *narrow);

#endif
