/*
 * plan_git: what the host's git takes hooks and further settings from, in the repositories that a run could write to:
 * core.hooksPath, include.path, includeIf.*.path and init.templateDir.
 *
 * Repositories are those in what is shown, submodules and linked worktrees among them, and those that what is shown
 * lies in. Their configuration is read wherever it is, with config.worktree, with all that it includes, whatever the
 * condition; so is the user's own and the system's. Each place that is named and lies in what is shown is protected as
 * .git/hooks and .git/config are, there or not, and so is what links in a folder of hooks lead to, shown or not. A
 * relative one is meant below the work tree, and below the repository's folder, where git is when somebody pushes to
 * it; one of the user's or the system's below any folder, since a run can make a repository without hooks and
 * configuration.
 *
 * Only files that are there cost anything. One that git could not read either says nothing; one that is too large is
 * refused.
 */
#ifndef CORDON_PLAN_GIT_H
#define CORDON_PLAN_GIT_H

#include "plan/plan_draft.h"

/* from: the first of the plan's ops that a search has added. 1: more is protected now; 0: nothing new; -1. */
int plan_git_follow(struct draft *d, size_t from);

#endif
