/*
 * run_git: says at a run's start where git inside would find no repository, although it does outside.
 *
 * A linked worktree and a submodule have a file .git, which leads to a folder elsewhere; and in a subfolder git looks
 * for a repository above. Of both the sandbox has nothing unless a rule shows it, and git's own words do not say so.
 * Looks at names alone, of the work folder and, where that has no .git, of those above it, up to a home.
 */
#ifndef CORDON_CLI_RUN_GIT_H
#define CORDON_CLI_RUN_GIT_H

#include "cli/cli_policy.h"
#include "cli/run_check.h"

/* workdir: absolute and canonical. */
void run_git_tell(const struct cli_policy *p, const char *workdir, const struct run_check_to *to);

#endif
