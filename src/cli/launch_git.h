/*
 * launch_git: what a run left in the repositories of folders that it could write to, and that would run a program when
 * somebody goes on with it (model/git_state.h).
 *
 * It is told, not undone: the rebase may be the user's own, or another program's that works there now.
 */
#ifndef CORDON_CLI_LAUNCH_GIT_H
#define CORDON_CLI_LAUNCH_GIT_H

#include <time.h>

#include "cli/cli.h"
#include "cli/cli_policy.h"
#include "model/plan.h"

/* Configuration files of git's that the environment names, for struct plan_request: NULL-terminated, in the caller's
 * storage. */
struct launch_git_configs {
	char xdg[PATH_MAX];
	const char *v[4];
};
const char *const *launch_git_configs(struct launch_git_configs *c, const struct cli_folders *folders);

/* When nothing runs any more. since: sys_stamp_first() before anything ran. */
void launch_git_tell(const struct call *call, const struct plan *plan, struct timespec since);

#endif
