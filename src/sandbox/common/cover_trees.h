/*
 * cover_trees: the folders of the host that a container is shown as they are, and what stands where it has masks. For
 * cover_watch.c.
 *
 * What it may write to is not among them: the container has copies of that.
 */
#ifndef CORDON_SANDBOX_COVER_TREES_H
#define CORDON_SANDBOX_COVER_TREES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/plan.h"
#include "sandbox/common/cover_known.h"
#include "sys/names.h"

/* A folder of the host that is shown as it is. */
struct cover_tree {
	const struct plan_op *op;
	struct sys_facts is; /* when all was noted */
	int fd;
	bool searched; /* else it is of the base system, and only its masks are watched */
};

struct cover_trees {
	const struct plan *plan;
	struct cover_tree *v;
	size_t n;
};

/* Finds the folders, and notes what stands at each name in them that will be covered. 0 or -errno; cover_trees_done()
 * in either case. */
int cover_trees_init(struct cover_trees *s, const struct plan *plan, struct cover_known *known);
void cover_trees_done(struct cover_trees *s);

/* The one whose file is seen at target; NULL: what is seen there is not of any of them. */
const struct cover_tree *cover_trees_at(const struct cover_trees *s, const char *target);

/* The rest of target below the folder; "" for the folder itself. */
const char *cover_tree_below(const struct cover_tree *t, const char *target);

/* The folder that was noted stands where it stood. */
bool cover_tree_stands(const struct cover_tree *t);

#endif
