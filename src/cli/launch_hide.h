/*
 * launch_hide: what a plan masks has no bytes in the copies of launch_stage.h.
 *
 * In a container a mask is a mount on the copy's name, and moves with the folder that it is in. At the end, when mounts
 * are gone, what it covered would come back under the new name, where no rule knows it: so an empty file or folder is
 * all that a copy has there. Before anything is brought back they are taken away again; nothing of the host's that has
 * a masked name is changed then.
 */
#ifndef CORDON_CLI_LAUNCH_HIDE_H
#define CORDON_CLI_LAUNCH_HIDE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/plan.h"
#include "supervise/copied.h"

struct hidden {
	const char **paths; /* of the host, absolute, sorted by byte. In the plan's arena, as all here */
	ino_t *inodes;	    /* of what stands there in the copy; 0: nothing of ours */
	size_t n, room;
	size_t skip; /* bytes of each path up to the name below the folder */
	uid_t owner; /* set: the copy's (copy_given()) */
};

/* op: the folder as the plan shows it; host, copy: the folder and its copy. */
int hide_masked(struct hidden *h, struct plan *plan, const struct plan_op *op, int host, int copy, struct error *err);

/* The same for names that the plan's patterns hide and that appeared while the copy was made. copy: open for reading,
 * and not read yet. */
int hide_late(struct hidden *h, struct plan *plan, const struct plan_op *op, int host, int copy, struct error *err);

/* Masks and protections of names that are not in the copy, for what they stood over went away since: a runtime would
 * make the names, and the run would seem to have made them. Moves the plan's steps. */
void hide_drop(struct plan *plan, const char *target, int copy);

/* What the run moved together with the folder that it is in goes too: its new name is known by no rule. */
void hide_end(const struct hidden *h, const struct copied *copied, int copy);
/* For a copy that stays one: as the host has it, so that `cordon diff` shows no change. After hide_end(). */
void hide_fill(const struct hidden *h, int host, int copy);

#endif
