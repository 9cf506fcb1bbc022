/*
 * launch_git: what a run left in the repositories of folders that it could write to, and that would run a program when somebody goes on with it (model/git_state.h).
 *
 * It is told, not undone: the rebase may be the user's own, or another program's that works there now.
 */
#ifndef CORDON_CLI_LAUNCH_GIT_H
#define CORDON_CLI_LAUNCH_GIT_H

#include "cli/cli.h"
#include "model/plan.h"

/* When nothing runs any more. state: of the run, which is as old as it. */
void launch_git_tell(const struct call *call, const struct plan *plan, int state);

#endif
