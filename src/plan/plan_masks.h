/*
 * plan_masks: what is denied or protected and exists, covered under all its names.
 *
 * Everything of the host that is shown is searched (scan.h), and the base system where the policy denies something
 * there. A file with several names is covered under each that is shown, also where the denied one lies in a folder that
 * is not. A search that cannot come to its end is an error, never an open name.
 */
#ifndef CORDON_PLAN_MASKS_H
#define CORDON_PLAN_MASKS_H

#include "plan/plan_draft.h"
#include "plan/scan_links.h"

/* After all that shows was added and sorted, and all guards are there, those of filesystem.deny first. */
int plan_masks_add(struct draft *d);

/* Covers the other names of what was noted, in the first n things that are shown: those of the host, or the base
 * system. */
int plan_masks_other_names(struct draft *d, struct scan_links *links, size_t n, bool host);

#endif
