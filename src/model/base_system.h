/*
 * base_system: what every sandbox holds without being told, and what it hides although it lies there.
 *
 * One table, so that what `why` and `explain` say and what the plan builds cannot differ. For a path that several rows
 * hit the row that matches deepest decides. Of /etc only what is listed is there: it is an allowlist. The user's home
 * is private too, under its own name, which is why it is not in the table.
 *
 * Pure: knows names only and never looks at the host.
 */
#ifndef CORDON_MODEL_BASE_SYSTEM_H
#define CORDON_MODEL_BASE_SYSTEM_H

#include "base/sv.h"

enum base_kind {
	BASE_ABSENT,	/* not there unless policy shows it */
	BASE_READ,	/* of the host, read-only */
	BASE_MADE,	/* a small file that Cordon makes */
	BASE_HIDDEN,	/* of the kernel's or the host's, never shown */
	BASE_CLOSED,	/* the same, by its mode alone */
	BASE_PRIVATE,	/* the sandbox's own, empty at the start, writable */
	BASE_PROC,	/* its own /proc: readable; a process may write to its own entries */
	BASE_DEVICE,	/* a device node that is in its /dev: readable and writable */
};

struct base_path {
	const char *pattern; /* as base/glob.h has it */
	enum base_kind kind;
	const char *what; /* for a person: "the base system" */
};

/* Ended by a row without a pattern. */
extern const struct base_path base_paths[];

/* The row that decides for a canonical path, and how many components of the path it took to match; NULL: absent. */
const struct base_path *base_system_find(struct sv path, int *ret_depth);

/* Components of the shortest leading part of path that the pattern matches: 0 for "/", -1 where it does not match. */
int base_pattern_depth(const char *pattern, struct sv path);

#endif
