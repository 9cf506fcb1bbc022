/*
 * launch_copy: a plain copy of the work folder below the run's state, where no overlay can take what the run changes
 * there.
 *
 * What it grows by is bounded by filesystem.tmp_size, as an overlay in memory is, but by watching (supervise/usage.h):
 * a run that goes beyond is ended. As long as the run lasts the copy is marked as one that does not outlive its
 * supervisor.
 *
 * Zero it; launch_copy_done() closes what it owns.
 */
#ifndef CORDON_CLI_LAUNCH_COPY_H
#define CORDON_CLI_LAUNCH_COPY_H

#include "base/error.h"
#include "cli/cli.h"
#include "model/plan.h"
#include "supervise/state.h"
#include "supervise/watch.h"

struct launch_copy {
	const char *folders[2]; /* it, and NULL; in the plan's arena. NULL: there is none */
	uint64_t room;		/* bytes that it may hold in all; 0: no bound */
	int reader;		/* a user namespace whose root may read all of it; 0: we may */
};

/* op: the plan's overlay, which becomes the copy. other_group: what kept an overlay from serving, or NULL. Moves the
 * plan's steps. */
int launch_copy_make(struct launch_copy *c, const struct call *call, struct plan *plan, struct plan_op *op,
		     const struct state *state, const char *other_group, struct error *err);
void launch_copy_watch(const struct launch_copy *c, struct watch_limits *w);
/* The run has ended, and what it changed is the user's. */
void launch_copy_end(const struct launch_copy *c, const struct state *state);
void launch_copy_done(struct launch_copy *c);

#endif
