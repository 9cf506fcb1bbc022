/*
 * launch_stage: folders of the host that a container may write to, as copies.
 *
 * A container runtime can show a folder or not; it cannot refuse names that do not exist yet. So what a plan shows
 * writable is copied to the run's state folder, and the plan shows the copy. When the run has ended, what it changed
 * there is judged as `cordon apply` judges (supervise/changes.h), and what may comes back, each folder as a whole or
 * not at all; what may not is said and left in the copy. The folder that is copied must be the one that the plan judged
 * (plan/plan_source.h), and the one that changes come back to must be that: at its path another may stand by then, or a
 * link on the way. What the plan masks is not in the copies at all (launch_hide.h). A work folder in mode `copy` stays
 * a copy, for `cordon diff` and `cordon apply`; so does one that could not be brought back as a whole.
 *
 * Only folders: a single file that may be written is refused.
 */
#ifndef CORDON_CLI_LAUNCH_STAGE_H
#define CORDON_CLI_LAUNCH_STAGE_H

#include <time.h>

#include "audit/audit.h"
#include "base/error.h"
#include "cli/cli.h"
#include "cli/launch_hide.h"
#include "model/plan.h"
#include "model/policy.h"
#include "supervise/changes_apply.h"
#include "supervise/copied.h"

enum { STAGE_MAX = 64, STAGE_SAID = 10, STAGE_LOGGED = 1000, STAGE_TRIES = 8, STAGE_BUSY_MS = 10000 };

struct staged {
	const char *host; /* the folder */
	const char *target; /* where it is shown */
	char name[24];	  /* of its copy in the state folder */
	bool kept;	  /* not brought back */
	dev_t dev;	  /* which folder it was */
	ino_t ino;
	struct copied copied;
	struct hidden hidden;
	struct changes_others others; /* applies of other runs that were ended there */
};

struct stage {
	struct timespec started;
	struct staged v[STAGE_MAX];
	size_t n;
};

/* owner: who may write to the copies. state: the run's folder, by descriptor and path. Changes the plan. */
int stage_make(struct stage *s, struct plan *plan, const char *runtime, int state, const char *state_path,
	       uint32_t owner, struct error *err);

/* Writes down what the copies that are kept were made of: after stage_make(), when there is time, and before anything
 * inside may change them. */
int stage_note(const struct stage *s, int state, const char *state_path, struct error *err);

/* Before anything inside may change the copies: see copied.h. */
void stage_settle(const struct stage *s);

struct stage_end {
	struct audit *audit;
	const struct call *call;
	const struct policy *policy;
	const struct plan *plan;
	int state; /* the run's folder, by descriptor and path */
	const char *state_path, *id;
	size_t conflicts; /* set: changes that the host's own stood against */
};

/*
 * Everything inside has ended. What must stay in a copy is said by name and cause, and logged (the first STAGE_SAID,
 * STAGE_LOGGED of a folder), and that copy is kept. What the policy refuses is no failure, as it is none inside a
 * native sandbox; what the host's own changes stood against is: work of the run is missing where it was to be.
 */
int stage_return(struct stage *s, struct stage_end *end, struct error *err);

#endif
