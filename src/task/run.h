/*
 * run: one task from its folder to its result.
 *
 *	stage	the folder is copied to a private one (stage.h), which is all that is read of it from then on
 *	build	its image: found in the store, or made from its Dockerfile
 *	setup	what the task wants done before the agent; is it healthy?
 *	agent	the agent, or the task's own solution; tests and solution are absent
 *	freeze	everything of the agent is dead; of what it changed, the filtered part becomes a layer (carry.h)
 *	verify	a fresh sandbox: the pristine image, that layer, the tests
 *	collect	rewards (reward.h), output, changes
 *
 * Each phase that runs something is a sandbox of its own, under the operator's policy cut down to what the task asks
 * for (bounds.h). What a phase prints, its events, its bounds and the result are in the folder of results.
 *
 * Whatever goes wrong is a result, too: status and reason say what. Nothing is left behind but the results.
 */
#ifndef CORDON_TASK_RUN_H
#define CORDON_TASK_RUN_H

#include "base/error.h"
#include "model/task.h"
#include "task/agents.h"
#include "task/attend.h"
#include "task/launcher.h"
#include "task/result.h"
#include "vault/credential.h"

struct task_run_request {
	const char *dir;
	const char *out;     /* the folder of results: new, or empty */
	const char *scratch; /* where private folders of runs are made; removed at the end */
	const struct agent *agent; /* NULL: the agent is `command` */
	char *const *command;
	const char *model; /* for the agent; NULL: its own */
	const char *home;  /* what ~ means in the agent's description */
	const struct credentials *credentials; /* the operator's, without values */
	const struct task_launcher *launcher;
	const struct task_progress *progress; /* NULL: nobody looks */
	bool lenient;			      /* unknown keys of the task are warnings */
};

/*
 * Fills *ret, whose arena the caller made and frees. -1 only where there can be no result: the folder of results cannot
 * be made or written.
 */
int task_run(const struct task_run_request *req, struct task_result *ret, struct error *err);

#endif
