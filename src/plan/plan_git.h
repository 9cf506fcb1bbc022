/*
 * plan_git: what the host's git was told to take hooks and further settings from, in a repository that a run may write to: core.hooksPath, include.path and includeIf.*.path of its own configuration, and a relative
 * core.hooksPath of the user's.
 *
 * Each such place that lies in what is shown is protected as .git/hooks and .git/config are, there or not. Files are read as git reads them, up to a bound; what cannot be read says nothing. Quoting and comments are understood, continued
 * lines are not.
 */
#ifndef CORDON_PLAN_GIT_H
#define CORDON_PLAN_GIT_H

#include "plan/plan_draft.h"

/* config: the path of a repository's .git/config on the host. 1: more is protected now; 0: nothing new; -1. */
int plan_git_follow(struct draft *d, const char *config);

#endif
