/*
 * run_workdir: the work folder that a run has.
 *
 * A home folder, one's own or another user's (home.h), holds what a sandbox must not see. Named on purpose (--workdir)
 * it is refused, and so are folders of the system and of Cordon's own state; where it is only where the user happens to
 * stand, the run has no work folder. A name below the current folder that leads out of it by a link is refused, too:
 * runs can leave links.
 */
#ifndef CORDON_CLI_RUN_WORKDIR_H
#define CORDON_CLI_RUN_WORKDIR_H

#include "cli/cli_policy.h"

/* *ret borrows from p; NULL: none. *ret_unfit: what keeps the current folder from being it, behind its name ("is your
 * home folder, ..."); NULL: nothing does. */
int run_workdir(const struct call *call, const struct cli_policy *p, const char **ret, const char **ret_unfit,
		struct error *err);

/* Says where the work folder is, if it is a link that was named. person: somebody reads what is said, and wants to know
 * the same of a link that they stand in. */
void run_workdir_tell(const struct call *call, const struct cli_policy *p, bool person);

#endif
