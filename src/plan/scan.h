/*
 * scan: finds, below one folder of the host, every path that a set of patterns denies or protects.
 *
 * Never follows a symbolic link. What a pattern covers is reported once, at its top, and not entered. Files whose
 * other hard links may stand under another name (link count above 1) are looked for in a second pass. Folders that cannot be read, or are nested too
 * deep, are reported as denied themselves. Bounded by max entries.
 */
#ifndef CORDON_PLAN_SCAN_H
#define CORDON_PLAN_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/plan.h"

/* on_way: not denied itself, but it stands where a denied path needs a folder, and is none. Return 0, or -1 to stop. */
typedef int scan_found(void *arg, const char *path, const struct plan_guard *guard, bool on_way);

struct scan {
	const struct plan_guard *guards;
	size_t n_guards;
	uint64_t max_entries;
	scan_found *found;
	void *arg;
	const char *memory_dir; /* for plan/scan_memory.h; NULL: each folder is read */
};

/* root: absolute, canonical, on the host. shown_as: the same folder's name inside, where patterns are tried as well. */
int scan_tree(const struct scan *s, const char *root, const char *shown_as, uint64_t *ret_entries, struct error *err);

#endif
