#include "cli/verb_task_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/launch_task.h"
#include "cli/task_progress.h"
#include "task/past.h"
#include "task/run.h"
#include "vault/credentials_read.h"

enum { REASON_SHOWN = 2000, PROBLEMS_SHOWN = 20 };

const struct option verb_task_run_options[] = {
	{"agent", 'a', "AGENT", "oracle|none|cordon",
	 "Who works on it: oracle (the task's own solution), none, cordon (the built-in agent), or one of your own "
	 "(cordon-agents(5)).",
	 0},
	{"model", 'm', "MODEL", NULL, "The model that the agent asks.", 0},
	CLI_OPTION_RUNTIME,
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	{"out", 'o', "DIR", "dir",
	 "Put the results there, into a new folder: result.json, output, rewards, changes, logs; else into one below "
	 "$XDG_STATE_HOME/cordon/tasks.",
	 0},
	{"lenient", 0, NULL, NULL, "Warn of keys that Cordon does not know, in place of refusing the task.", 0},
	{"json", 0, NULL, NULL, "Print the result as one JSON document.", 0},
	{0},
};

/* The folders that a path names, up to its last part; what is there stays as it is. */
static int make_parents(const char *path, mode_t mode, struct error *err)
{
	struct text_shown shown;
	char part[PATH_MAX];
	size_t i;

	for (i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return error_sys(err, errno, "%s", text_show(&shown, sv_of(part)));
	}
	return 0;
}

/* As all state it is its owner's alone: it holds what tasks and agents printed. */
static int make_private(const char *path, struct error *err)
{
	struct text_shown shown;

	if (make_parents(path, 0700, err) < 0)
		return -1;
	return mkdir(path, 0700) < 0 && errno != EEXIST ? error_sys(err, errno, "%s", text_show(&shown, sv_of(path)))
							: 0;
}

struct places {
	struct cli_folders folders;
	char out[PATH_MAX], scratch[PATH_MAX];
};

static int find_places(const struct call *call, struct places *p, struct error *err)
{
	const char *out = call_value(call, "out");
	char here[PATH_MAX], root[PATH_MAX], name[PAST_ID_MAX];

	if (cli_folders(&p->folders, err) < 0 || past_root(p->folders.state, root, err) < 0)
		return -1;
	past_name(name);
	if (snprintf(p->scratch, sizeof(p->scratch), "%s/tmp", root) >= PATH_MAX ||
	    snprintf(p->out, sizeof(p->out), "%s/%s", root, name) >= PATH_MAX)
		return error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long");
	if (make_private(p->scratch, err) < 0)
		return -1;
	if (!out)
		return 0;
	if (!real_path(".", here))
		return error_sys(err, errno, "the current folder");
	return cli_path_clean(here, out, p->out) < 0 ? error_set(err, ERROR_INPUT, "--out: the path is too long") : 0;
}

static int choose_agent(const struct call *call, const char *config, struct task_run_request *req, struct agent **ret,
			struct error *err)
{
	const char *name = call_value(call, "agent");

	if (name && call->command)
		return error_set(err, ERROR_USAGE,
				 "task run: --agent and a command behind -- exclude each other; leave one of them out");
	if (!name && !call->command)
		return error_set(err, ERROR_USAGE,
				 "task run: who shall work on it? Give --agent oracle, --agent none, --agent NAME, or "
				 "a command behind --");
	req->command = call->command;
	if (name && agent_find(config, name, ret, err) < 0)
		return -1;
	req->agent = *ret;
	req->model = call_value(call, "model");
	if (req->model && (!req->agent || req->agent->kind == AGENT_ORACLE || req->agent->kind == AGENT_NONE))
		return error_set(err, ERROR_USAGE,
				 "task run: --model is for --agent cordon and agents of your own; a command behind -- "
				 "is told its model by its own options");
	/* before anything is built for it */
	return req->agent ? agent_has_model(req->agent, req->model, err) : 0;
}

/* What is wrong with the command line and the operator's own files is told before anything is built, and is no result
 * of the task's. */
static int check_options(const struct call *call, struct error *err)
{
	struct cli_policy policy = {0};
	struct text_shown shown;
	struct stat st;
	int r;

	r = stat(call->args[0], &st) < 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	if (r == ENOTDIR)
		return error_set(err, ERROR_INPUT, "%s: is not a folder; name the task's folder",
				 text_show(&shown, sv_of(call->args[0])));
	if (r)
		return error_sys(err, r, "%s", text_show(&shown, sv_of(call->args[0])));
	r = cli_policy_load(call, NULL, 0, &policy, err);
	cli_policy_done(&policy);
	return r;
}

/* Words of the task's, whole where a person is to act on them. */
static void say_line(const struct call *call, const char *before, const char *text, const char *after)
{
	AUTO_BUF shown = {0};

	buf_init(&shown, 1 << 16);
	text_escape(&shown, sv_of(text), REASON_SHOWN);
	(void)fprintf(call->out, "%s%.*s%s", before, (int)shown.n, shown.n ? shown.p : "", after);
}

static void say_rewards(const struct call *call, const struct task_result *r)
{
	char value[40];
	size_t i;

	(void)fprintf(call->out, "reward %g\n", r->reward);
	for (i = 0; i < r->n_rewards && r->n_rewards > 1; i++) {
		(void)snprintf(value, sizeof(value), " %g\n", r->rewards[i].value);
		say_line(call, "  ", r->rewards[i].key, value);
	}
}

/* The reason is the first problem of the task; here are the others. */
static void say_problems(const struct call *call, const struct task_result *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->n_findings; i++) {
		const struct task_finding *f = &r->findings[i];

		if (strcmp(f->rule, "task-refused") != 0 || n++ == 0)
			continue;
		if (n > PROBLEMS_SHOWN)
			break;
		say_line(call, "  ", f->path, ": ");
		say_line(call, "", f->message, "\n");
	}
	if (n > PROBLEMS_SHOWN)
		(void)fprintf(call->out, "  and more; `cordon task check` lists all of them\n");
}

/* For a person: what came of it. */
static void say_result(const struct call *call, const struct task_result *r)
{
	int agent = r->phases[PHASE_AGENT].exit;

	say_line(call, "", r->task, ": ");
	if (r->status == TASK_SCORED) {
		say_rewards(call, r);
	} else {
		(void)fprintf(call->out, "%s: ", task_status_names[r->status]);
		say_line(call, "", r->reason ? r->reason : "no reason", "\n");
		say_problems(call, r);
	}
	if (r->agent_timed_out)
		call_note(call, "the agent was ended when its time was over; output/agent.txt has what it said");
	else if (r->status == TASK_SCORED && agent != 0)
		call_note(call, "the agent ended with exit status %d; output/agent.txt has what it said", agent);
	if (r->denials)
		call_note(call, "denied: %llu; audit/ says what", (unsigned long long)r->denials);
}

static int run(struct call *call, struct task_run_request *req, struct error *err)
{
	struct task_result result = {.arena = arena_new()};
	struct task_launcher launcher;
	struct task_progress progress;
	struct progress shown;
	AUTO_BUF json = {0};
	int r;

	if (!result.arena)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	launch_task_init(call, &launcher);
	task_progress_init(&shown, call, &progress);
	req->launcher = &launcher;
	req->progress = &progress;
	r = task_run(req, &result, err);
	task_progress_done(&shown);
	if (r == 0 && call_has(call, "json")) {
		buf_init(&json, 64 << 20);
		task_result_json(&result, &json);
		r = cli_print(call, &json, err);
	} else if (r == 0) {
		say_result(call, &result);
	}
	if (r == 0) {
		call_note(call, "results: %s", req->out);
		if (result.signal && result.status != TASK_SCORED) { /* a score is a score: scripts know it by 0 */
			(void)fflush(call->out);
			cli_die_of(result.signal);
		}
		r = task_exit_status(&result);
	}
	arena_free(result.arena);
	return r;
}

/* Whoever reads the document finds one for a task that could not be begun, too; but not for a command line that is
 * wrong. */
static void print_failure(const struct call *call, const struct error *err)
{
	const struct task_result result = {
		.task = call->args[0], .started = time(NULL), .status = TASK_INFRASTRUCTURE_ERROR, .reason = err->text};
	struct error ignored = {0};
	AUTO_BUF json = {0};

	if (err->kind == ERROR_USAGE || !call_has(call, "json"))
		return;
	buf_init(&json, 1 << 20);
	task_result_json(&result, &json);
	(void)cli_print(call, &json, &ignored);
}

int verb_task_run(struct call *call, struct error *err)
{
	struct task_run_request req = {.dir = call->args[0], .lenient = call_has(call, "lenient")};
	struct credentials *credentials = NULL;
	struct agent *agent = NULL;
	char path[PATH_MAX];
	struct places p;
	int r;

	if (check_options(call, err) < 0 || find_places(call, &p, err) < 0) {
		print_failure(call, err);
		return -1;
	}
	r = choose_agent(call, p.folders.config, &req, &agent, err);
	if (r == 0 && snprintf(path, sizeof(path), "%s/credentials.yaml", p.folders.config) >= (int)sizeof(path))
		r = error_set(err, ERROR_INPUT, "XDG_CONFIG_HOME: the path is too long");
	if (r == 0)
		r = credentials_read(path, &credentials, err);
	if (r == 0)
		r = make_parents(p.out, 0755, err);
	req.credentials = credentials;
	req.home = p.folders.home;
	req.out = p.out;
	req.scratch = p.scratch;
	if (r == 0)
		r = run(call, &req, err);
	if (r < 0)
		print_failure(call, err);
	credentials_free(credentials);
	agent_free(agent);
	return r;
}
