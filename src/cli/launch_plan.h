/*
 * launch_plan: what a plan is made of besides the policy's own words: files that are not the run's to write or to see,
 * and where the user's git looks. For `run`, and for who says what a run would do.
 */
#ifndef CORDON_CLI_LAUNCH_PLAN_H
#define CORDON_CLI_LAUNCH_PLAN_H

#include "cli/cli_policy.h"
#include "cli/launch_git.h"
#include "cli/launch_live.h"
#include "plan/plan_build.h"

struct launch_plan {
	const char *protect[LIVE_FILES + 1]; /* policy files, of this run and of others, that are not its to write */
	const char **ways; /* its own as they were named, absolute */
	const char *outputs[LIVE_FILES +
			    1]; /* what Cordon writes about this run and others, below folders that it may write */
	const char *secret[LIVE_FILES + 1];
	struct launch_git_configs configs;
	struct cli_own own;
};

/*
 * Sets policy, here, home, cache_dir, protect, ways, outputs, hide, own and git_configs of p, whose workdir is set, and
 * which borrows from s, arena and policy. root: of all runs; NULL: other runs do not count. written: the files that
 * Cordon will write about this run, as they were named; with a NULL behind them, or NULL.
 */
int launch_plan_fill(struct launch_plan *s, struct arena *arena, const struct cli_policy *policy, const char *root,
		     const char *const *written, struct plan_request *p, struct error *err);

#endif
