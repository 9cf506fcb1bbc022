/*
 * launch_events: what a run writes about itself: the first and the last lines of its log.
 */
#ifndef CORDON_CLI_LAUNCH_EVENTS_H
#define CORDON_CLI_LAUNCH_EVENTS_H

#include "audit/audit.h"
#include "cli/cli.h"
#include "cli/runtime_pick.h"
#include "model/plan.h"
#include "sandbox/native/native.h"
#include "supervise/landlock_log.h"
#include "supervise/state.h"
#include "supervise/supervise.h"
#include "sys/cgroup.h"

struct launch_facts {
	const struct plan *plan;
	const char *policy_digest;
	struct confine_features features;
	struct landlock_log *landlock; /* what it denies will be in the log; NULL: that cannot be read here */
	unsigned cgroup_mask;
	uint32_t host_uid;
	const struct runtime_pick *pick;
	const char *profile; /* what was asked for, for `cordon ps` */
	const struct keep_request *keep; /* NULL: it ends with its command */
};

/* What holds the run, in a few words: "user mount pid net ipc uts cgroup, landlock 7, seccomp". */
void launch_isolation(const struct launch_facts *facts, char *out, size_t size);

/* Finds out whether what Landlock denies can be read, of what the facts say will run. landlock_log_free() is the
 * caller's. */
void launch_landlock(struct launch_facts *facts);

/* That there is none, said once to each user (root: the folder of all runs), and in every log. */
void launch_note_no_landlock(const struct call *call, const char *root);

int launch_log_start(struct audit *audit, const struct launch_facts *facts, struct error *err);
/* Limits that the kernel enforced and only counted. */
int launch_log_limits(struct audit *audit, const struct cgroup_stats *stats, struct error *err);
int launch_log_exit(struct audit *audit, const struct supervise_result *result, const struct cgroup_stats *stats,
		    int exit_status, struct error *err);

#endif
