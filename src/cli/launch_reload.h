/*
 * launch_reload: a run's policy while the run goes on. Network and inference can change, by gate_reload(); what the
 * other two domains say now was settled at the start, and a difference there is told as waiting for a restart.
 */
#ifndef CORDON_CLI_LAUNCH_RELOAD_H
#define CORDON_CLI_LAUNCH_RELOAD_H

#include "cli/cli_policy.h"
#include "cli/launch_live.h"
#include "supervise/gate.h"
#include "supervise/supervise.h"

struct launch_reload {
	const struct call *call;
	const struct policy *first; /* what the run was started with */
	struct cli_policy last;	    /* ours; empty: nothing was loaded yet */
	struct gate *gate;
	struct arena *arena; /* of the rules below */
	struct net_rule approved[64]; /* by a person, for this run */
	uint32_t n_approved;
	const char *files[32];
	const char *here; /* the folder that names of files are from; NULL: none is needed */
	struct supervise_policies policies; /* for supervise() */
};

/* gate NULL: nothing can change. live: whose files are not followed, as other runs may write them. */
void launch_reload_init(struct launch_reload *l, const struct call *call, const struct policy *first, struct gate *gate,
			const struct live *live);
void launch_reload_done(struct launch_reload *l);

#endif
