/*
 * plan_binds: other names that what is shown has on the host, because a part of a file system is mounted in several
 * places (mount --bind).
 *
 * A rule means a file or folder, by a name of the host; the same may be seen in a folder that is shown, by the name of
 * a bind mount there, or be shown by the name of one itself. So each such place is noted as what it is: the folder of
 * the other name, shown there. From then on plan_follow.h has the rules for that folder hold there, as it does for a
 * folder that the policy shows twice.
 *
 * Goes by what /proc/self/mountinfo says of file systems and their parts, not by what stands at a name: mounts that
 * others hide count as well, by which more names are denied, never fewer. It knows nothing of file systems that show
 * another's files as their own (overlay, FUSE).
 */
#ifndef CORDON_PLAN_BINDS_H
#define CORDON_PLAN_BINDS_H

#include "plan/plan_draft.h"

/* Fills d->binds, and the plan's origins, when all that shows is there. 0 or -1. */
int plan_binds_find(struct draft *d);

#endif
