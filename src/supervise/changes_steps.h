/*
 * changes_steps: from a list of changes to the steps of a journal, with everything new made in the staging folder. For
 * changes_apply.c only.
 *
 * Names that are one file in upper are one here, too, in one new folder or outside of all of them, where they would
 * have the same group.
 *
 * Only topmost changes become steps: what is below a new folder is staged within it, what is below a folder that goes,
 * goes with it. Folders that are to be opened for their owner come first, those that are to be closed last. A folder
 * without write permission cannot be renamed by its owner, nor can a name in it be made or taken: it has it for the
 * time of the move.
 */
#ifndef CORDON_SUPERVISE_CHANGES_STEPS_H
#define CORDON_SUPERVISE_CHANGES_STEPS_H

#include "supervise/changes.h"
#include "supervise/changes_journal.h"

struct steps_job {
	int lower;
	int upper;
	int staging;
	bool can_swap; /* the file system knows RENAME_EXCHANGE */
	const struct changes *list;
	int (*tick)(void *ctx); /* called behind every staged object; may be NULL */
	void *ctx;
};

/* Appends to j->steps (heap; free()) and j->n, also where it fails. Refused changes are left out. */
int steps_build(const struct steps_job *job, struct journal *j, struct error *err);

/* As an apply fails where the host changed something since the scan. Returns -1. */
int changes_stale(struct error *err, const char *path);

#endif
