/*
 * git_state: what a rebase, cherry-pick or revert that is going on leaves in a repository, and whether `git rebase
 * --continue` and its like would run a program because of it.
 *
 * Three files can name one: the list of a rebase by its lines `exec`, and the strategy of a merge, from which git makes
 * the name of a program (`/x` is ./git-merge-/x). Who rebases in a sandbox needs these files, so their names are not
 * denied; what stands in them is judged when they come back from a copy, and looked at where a run worked in the folder
 * itself.
 */
#ifndef CORDON_MODEL_GIT_STATE_H
#define CORDON_MODEL_GIT_STATE_H

#include <stdbool.h>

#include "base/sv.h"

enum { GIT_STATE_FILES = 3, GIT_STATE_MAX = 4 << 20 };

/* Where they are, below a repository's folder. */
extern const char *const git_state_files[GIT_STATE_FILES];

/* The path, below a work folder, is one of these files, in a .git. */
bool git_state_is(struct sv path);
/* The path is one of these files, or the folder of one, in which a link would stand for another. */
bool git_state_is_place(struct sv path);

/* With this content, of not more than GIT_STATE_MAX bytes, the file at path would have git run a program. */
bool git_state_runs(struct sv path, struct sv content);

#endif
