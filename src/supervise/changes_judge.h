/*
 * changes_judge: the verdicts of a scan (see changes.h). For changes.c and changes_apply.c only.
 *
 * Bounded: finding out where a link may lead takes at most a fixed number of steps per link and in all; a link that
 * needs more is refused.
 */
#ifndef CORDON_SUPERVISE_CHANGES_JUDGE_H
#define CORDON_SUPERVISE_CHANGES_JUDGE_H

#include "supervise/changes.h"

/* Sets `refused` of every change that has none yet, and n_refused. The list is complete and in order. 0, or -1: no
 * memory. */
int changes_judge(struct changes *c, int lower_fd, const struct changes_rules *rules, struct error *err);

/*
 * All that is not refused stands in lower now. The path of what makes a repository there with something that came
 * meanwhile, or NULL: another sandbox in the same folder, whose guard saw the folder without ours, could have made the
 * other part of it.
 */
const char *changes_judge_again(const struct changes *c, int lower_fd);

/* What the patterns are matched against: the path below the root, made absolute. NULL: no memory. */
const char *changes_full_path(struct arena *a, const struct changes_rules *rules, const char *path);

/* The absolute path, or a folder it is in, is one that the copy has nothing of. */
bool changes_is_hidden(const struct changes_rules *rules, const char *full);

/* Why a change of what the host changed as well is refused. */
extern const char changes_meanwhile[];

#endif
