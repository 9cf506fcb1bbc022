/*
 * root: builds the sandbox's root from a plan and enters it. Runs in PID 1, in its new user and mount namespaces.
 *
 * Places inside are looked up below the new root only, never through a link that leaves it. Sources on the host are
 * opened without following any link: the plan's paths are canonical, so a link there was put since, by somebody else.
 */
#ifndef CORDON_NATIVE_ROOT_H
#define CORDON_NATIVE_ROOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "model/plan.h"

struct root_trees {
	int *fds; /* a copy of the skeleton, where there is one, and id-mapped copies for ops with `host`, in their
		     order */
	size_t n;
};

struct root_result {
	int upper; /* what the run changes in a copy-on-write folder, where that is kept in the scratch space; else -1
		    */
	int outer_proc; /* where this machine lets nobody mount a /proc here, there is none inside, and this is the one
			   around us (O_PATH); else -1 */
};

/* ERROR_MISSING with code ENODEV where overlayfs cannot be used for the copy-on-write work folder in this way. */
int root_build(const struct plan *p, const struct root_trees *trees, struct root_result *ret, struct error *err);

/* Are there masks to lay? They may be gone with a skeleton that somebody deleted. */
bool root_has_masks(void);

/* What stands at path (absolute, of any length) inside, when the root has been entered: an O_PATH fd, or -errno. */
int root_look(const char *path);

/*
 * Lays a mask over, or makes read-only, what stands at path now (the root has been entered). For names that the host
 * made meanwhile. 1: it did. 0: it is covered already, by a mask, or where that is enough read-only; or it is gone, or
 * a link, which is judged by the name it leads to; or a folder above it lets nobody through, the workload neither:
 * whoever opens that finds the name covered by the next search. -errno: it stands open.
 */
int root_cover(const char *path, bool hidden);
/* The same for what root_look() has found. */
int root_cover_at(int place, bool hidden);

#endif
