/*
 * plan_linked: files with several names (hard links) that are denied or protected by one that is not shown.
 *
 * The search for other names (scan.h) begins with those that it finds itself, in what is shown. What is denied or
 * protected elsewhere (Cordon's own settings, the run's policy, a home's start-up files) is noted here
 * first, while the plan is made, and handed to it. Of a file with one name, as nearly all are, nothing is noted.
 *
 * Memory is the draft's: plan_linked_done() frees what is not its arena's.
 */
#ifndef CORDON_PLAN_LINKED_H
#define CORDON_PLAN_LINKED_H

#include <sys/stat.h>

#include "plan/plan_draft.h"

void plan_linked_init(struct draft *d);
void plan_linked_done(struct draft *d);

/* A file that this guard means under this path of the host. 0 or -1. */
int plan_linked_file(struct draft *d, const struct stat *st, const struct plan_guard *of, const char *path);
/* The same where there is one of that name; links are followed. */
int plan_linked_name(struct draft *d, const char *path, const struct plan_guard *of);
/* All that is below an open folder. */
int plan_linked_below(struct draft *d, int dir, const char *path, const struct plan_guard *of);

/* Adds them to what a search looks for. */
int plan_linked_give(const struct draft *d, struct scan_links *to);

#endif
