/*
 * launch: one run from policy to exit status, on the backend that was chosen.
 *
 * The one place where policy, plan, state, audit, cgroup, backend and supervisor meet. Everything that was made for the
 * run is removed again, whatever fails; its state folder stays, with the log.
 */
#ifndef CORDON_CLI_LAUNCH_H
#define CORDON_CLI_LAUNCH_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/cli_policy.h"
#include "cli/runtime_pick.h"
#include "model/image.h"
#include "supervise/keep.h"
#include "supervise/state.h"

/* What is known of a run when it has ended. */
struct launch_outcome {
	char id[STATE_ID];
	uint64_t denials;
	bool timed_out;	     /* its time was over; a command may end with that status, too */
	bool lost; /* its command had started, or may have, and nobody told how it ended: the sandbox was gone, or the
		      one whose network it shared */
	int signal;	     /* that ended the command; 0: none did */
	char isolation[96];  /* in a few words */
	struct buf gateway; /* what went through it, as a JSON object; empty: nothing. The caller's */
	/* Called when the sandbox stands and can be joined, before its command runs; NULL: nobody asks. */
	void (*ready)(void *arg, const char *id);
	void *arg;
};

struct launch_request {
	const struct call *call;
	const struct cli_policy *policy;
	const struct runtime_pick *pick; /* the backend, and why it is this one */
	const char *workdir; /* NULL: none */
	char *const *argv;
	const char *const *env_arguments; /* --env */
	size_t n_env_arguments;
	const char *events_path; /* --json-events, or NULL */
	const char *report_path; /* --report, or NULL */
	pid_t front;		 /* see supervise/front.h; 0: none */
	const char *learn_path;	 /* --learn, or NULL */
	const struct keep_request *keep; /* --keep and its kin: argv is only what is shown; NULL: no */
	/*
	 * The root of the sandbox, in place of the host's base system; NULL: that. Not on docker. workdir is passed
	 * over then; uid, gid and cwd are the image's. What is left in its upper folder is the caller's.
	 */
	const struct image_root *image;
	/* The id of a running sandbox with an image and the same ids: this one has its network, and ends when it ends.
	 * NULL: a network of its own. */
	const char *join;
	bool first; /* of those that join one in which nothing runs: what a kernel of the whole group has once is its
		       own. One may say so */
	/* Where others will join it, and the runtime has one kernel for all of them (gVisor): what they may use
	 * together, within the policy's; 0: not said. */
	uint64_t group_memory, group_cpus; /* bytes, thousandths */
	struct launch_outcome *outcome; /* filled in at the end; NULL: nobody asks */
	bool last; /* the program ends with this run: its memory is not given back piece by piece before */
	bool dry_run;
	bool *ret_not_started; /* set where the runtime could not start a container: nothing of the command ran. NULL:
				  nobody asks */
};

/* The exit status of `cordon run`, or -1 with err set. */
int launch(const struct launch_request *req, struct error *err);

#endif
