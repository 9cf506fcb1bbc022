#include "cli/verb_run.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli_policy.h"
#include "cli/health.h"
#include "cli/launch.h"
#include "cli/launch_keep.h"
#include "cli/run_check.h"
#include "cli/run_git.h"
#include "cli/run_image.h"
#include "cli/run_workdir.h"
#include "cli/runtime_pick.h"
#include "supervise/front.h"

const struct option verb_run_options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_RUNTIME,
	CLI_OPTION_CATEGORY,
	CLI_OPTION_WORKDIR("Take this as the work folder; else the current one."),
	{"image", 'i', "NAME", NULL,
	 "Take this image for the root, in place of this machine's base system; see `cordon image`.", 0},
	{"env", 'e', "NAME[=VALUE]", NULL, "Set a variable inside, or pass the host's.", OPTION_MANY},
	{"keep", 'k', NULL, NULL, "Keep the sandbox when CMD has ended, for `cordon exec`.", 0},
	{"owner", 0, "NAME", NULL, "Run in the sandbox that is kept for NAME; start one where there is none.", 0},
	{"lifecycle", 0, "KIND", "call|task|agent",
	 "call: a sandbox for each CMD; task, agent: one for all of --owner, which ends 5 or 30 minutes after its last "
	 "CMD.",
	 0},
	{"idle", 0, "TIME", NULL, "End a kept sandbox when nothing ran in it for TIME; else 15m, 0 for never.", 0},
	{"grace", 0, "TIME", NULL, "How long commands of a kept sandbox have from SIGTERM to SIGKILL; else 2s.", 0},
	{"warm", 0, "N", NULL, "Take a prepared sandbox where there is one, and have N ready for the next runs.", 0},
	{"dry-run", 'n', NULL, NULL, "Print what would be shown, hidden, limited and run, and start nothing.", 0},
	{"json", 0, NULL, NULL, "With --dry-run: print the plan as one JSON document.", 0},
	{"json-events", 0, "FILE", "file",
	 "Also append the run's events to FILE, one JSON object a line. One run at a time; it cannot change FILE "
	 "itself.",
	 0},
	{"learn", 0, "FILE", "file",
	 "Write to FILE the smallest policy that would have allowed what the run was denied.", 0},
	{"report", 0, "FILE", "file", "Write a page about the run to FILE (HTML) when it has ended.", 0},
	{0},
};

static void say(void *arg, const char *text)
{
	call_note(arg, "%s", text);
}

/* On the runtime that was picked. */
static int start(struct launch_request *req, const struct launch_keep *keep, bool kept, struct error *err)
{
	return kept ? launch_keep(req, keep, err) : launch(req, err);
}

/*
 * It was healthy when it was tried last, and now it started nothing: it is tried again, and where it fails, the
 * policy's fallback takes its place, as it would have done at once. Where it does not fail, the fault is this run's,
 * and the word stands that was said.
 */
static int start_or_fall_back(struct launch_request *req, const struct launch_keep *keep, bool kept, struct error *err)
{
	bool not_started = false;
	struct runtime_pick other;
	struct error first;
	int r;

	req->ret_not_started = &not_started;
	r = start(req, keep, kept, err);
	if (r >= 0 || !not_started || !req->pick->backend)
		return r;
	health_forget(req->pick->runtime, &req->policy->folders);
	first = *err;
	if (runtime_pick(req->call, req->policy, false, &other, err) < 0)
		return -1;
	if (other.runtime == req->pick->runtime) {
		*err = first;
		return -1;
	}
	*err = (struct error){0};
	req->pick = &other;
	return start(req, keep, kept, err);
}

/* Nothing of this machine is shown to an image: there is no work folder. */
static int start_in_image(struct launch_request *req, const struct launch_keep *keep, const char *name,
			  struct error *err)
{
	static const char *const none_of[] = {"workdir", "keep", "owner", "lifecycle", "warm", NULL};
	struct run_image image;
	size_t i;
	int r;

	for (i = 0; none_of[i]; i++)
		if (call_has(req->call, none_of[i]))
			return error_set(err, ERROR_USAGE, "run: --image does not go with --%s", none_of[i]);
	if (run_image_open(&image, name, req->policy->folders.state, err) < 0)
		return -1;
	req->image = &image.root;
	req->workdir = NULL;
	r = start_or_fall_back(req, keep, false, err);
	run_image_close(&image);
	return r;
}

int verb_run(struct call *call, struct error *err)
{
	struct cli_policy p = {0};
	struct launch_outcome outcome = {0};
	struct launch_request req = {.call = call,
				     .policy = &p,
				     .argv = call->command,
				     .events_path = call_value(call, "json-events"),
				     .report_path = call_value(call, "report"),
				     .learn_path = call_value(call, "learn"),
				     .last = true,
				     .dry_run = call_has(call, "dry-run"),
				     .outcome = &outcome};
	const struct run_check_to to = {say, call};
	struct runtime_pick pick;
	const struct option_value *v;
	const char **env = NULL;
	struct launch_keep keep;
	const char *image = call_value(call, "image"), *unfit = NULL;
	bool kept = false;
	size_t at = 0;
	int r;

	if (call_has(call, "json") && !req.dry_run)
		return error_set(err, ERROR_USAGE,
				 "run: --json goes with --dry-run; for the events of a run use --json-events FILE");
	r = launch_keep_options(call, &keep, &kept, err);
	if (r == 0 && !kept && !req.dry_run)
		r = front_stand(&req.front, err);
	if (r == 0)
		r = cli_policy_load(call, NULL, 0, &p, err);
	if (r == 0)
		r = runtime_pick(call, &p, req.dry_run, &pick, err);
	if (r == 0)
		run_check_start(call, &p, &to);
	/* Nothing is reachable by it either, but what is tried is seen. (The rules are those of a policy that this one
	 * extends.) */
	if (r == 0 && req.learn_path && p.policy->net.mode.v == NET_NONE) {
		p.policy->net.mode.v = NET_ALLOWLIST;
		p.policy->net.allow = (struct net_rules){0};
		p.policy->net.ask.v = false;
	}
	if (r == 0 && !image)
		r = run_workdir(call, &p, &req.workdir, &unfit, err);
	if (unfit)
		call_note(call,
			  "note: the current folder %s: running without a work folder; change to a project folder or "
			  "use --workdir",
			  unfit);
	if (r == 0 && req.workdir)
		run_workdir_tell(call, &p, isatty(STDERR_FILENO));
	/* for a person: what runs by itself does so every day */
	if (r == 0 && req.workdir && isatty(STDERR_FILENO))
		run_git_tell(&p, req.workdir, &to);
	if (r == 0) {
		env = calloc(call->n_values + 1, sizeof(*env));
		while (env && (v = call_next(call, "env", &at)))
			env[req.n_env_arguments++] = v->value;
		req.env_arguments = env;
		req.pick = &pick;
		if (!env)
			r = error_set(err, ERROR_SYSTEM, "out of memory");
		else
			r = image ? start_in_image(&req, &keep, image, err)
				  : start_or_fall_back(&req, &keep, kept, err);
	}
	/* What was allocated ends with the program. */
	/* a shell ends its loop or list for a job that died of ^C, not for one that says so by its status */
	if (req.front && r == 128 + SIGINT && outcome.signal == SIGINT)
		cli_die_of(SIGINT);
	return r;
}
