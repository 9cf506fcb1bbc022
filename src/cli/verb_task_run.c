#include "cli/verb_task_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/launch_task.h"
#include "cli/task_progress.h"
#include "task/run.h"
#include "vault/credentials_read.h"

const struct option verb_task_run_options[] = {
	{"agent", 'a', "AGENT", "oracle|none|cordon", "Who works on it: oracle (the task's own solution), none, cordon (the built-in agent), or one of your own (cordon-agents(5)).", 0},
	{"model", 'm', "MODEL", NULL, "The model that the agent asks.", 0},
	CLI_OPTION_RUNTIME,
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	{"out", 'o', "DIR", "dir", "Put the results there: result.json, output, rewards, changes, logs; else below the state folder.", 0},
	{"lenient", 0, NULL, NULL, "Warn of keys that Cordon does not know, in place of refusing the task.", 0},
	{"json", 0, NULL, NULL, "Print the result as one JSON document.", 0},
	{0},
};

static int make_folder(const char *path, struct error *err)
{
	struct text_shown shown;
	char part[PATH_MAX];
	size_t i, n = strlen(path);

	for (i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, i == n ? 0700 : 0755) < 0 && errno != EEXIST)
			return error_sys(err, errno, "%s", text_show(&shown, sv_of(part)));
	}
	return 0;
}

struct places {
	struct cli_folders folders;
	char out[PATH_MAX], scratch[PATH_MAX];
};

static int find_places(const struct call *call, struct places *p, struct error *err)
{
	const char *out = call_value(call, "out");
	char here[PATH_MAX];
	struct timespec t;
	int n;

	if (cli_folders(&p->folders, err) < 0)
		return -1;
	n = snprintf(p->scratch, sizeof(p->scratch), "%s/tasks/tmp", p->folders.state);
	if (n >= PATH_MAX || make_folder(p->scratch, err) < 0)
		return n >= PATH_MAX ? error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long") : -1;
	if (!out) {
		(void)clock_gettime(CLOCK_REALTIME, &t);
		n = snprintf(p->out, sizeof(p->out), "%s/tasks/%lld-%03ld", p->folders.state, (long long)t.tv_sec, t.tv_nsec / 1000000);
		return n >= PATH_MAX ? error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long") : 0;
	}
	if (!realpath(".", here))
		return error_sys(err, errno, "the current folder");
	return cli_path_clean(here, out, p->out) < 0 ? error_set(err, ERROR_INPUT, "--out: the path is too long") : 0;
}

static int choose_agent(const struct call *call, const char *config, struct task_run_request *req, struct agent **ret, struct error *err)
{
	const char *name = call_value(call, "agent");

	if (name && call->command)
		return error_set(err, ERROR_USAGE, "task run: --agent and a command behind -- exclude each other; leave one of them out");
	if (!name && !call->command)
		return error_set(err, ERROR_USAGE, "task run: who shall work on it? Give --agent oracle, --agent none, --agent NAME, or a command behind --");
	req->command = call->command;
	if (name && agent_find(config, name, ret, err) < 0)
		return -1;
	req->agent = *ret;
	return 0;
}

/* For a person: what came of it, and where to look. */
static void say_result(const struct call *call, const struct task_result *r, const char *out)
{
	struct text_shown task, reason;
	size_t i;

	(void)text_show(&task, sv_of(r->task));
	if (r->status == TASK_SCORED)
		(void)fprintf(call->out, "%s: reward %g\n", task.s, r->reward);
	else
		(void)fprintf(call->out, "%s: %s: %s\n", task.s, task_status_names[r->status], text_show(&reason, sv_of(r->reason ? r->reason : "no reason")));
	for (i = 0; r->status == TASK_SCORED && i < r->n_rewards && r->n_rewards > 1; i++)
		(void)fprintf(call->out, "  %s %g\n", r->rewards[i].key, r->rewards[i].value);
	if (r->denials)
		call_note(call, "%llu things were denied; audit/ there says which", (unsigned long long)r->denials);
	call_note(call, "results: %s", out);
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
		say_result(call, &result, req->out);
	}
	if (r == 0)
		r = task_exit_status(result.status);
	arena_free(result.arena);
	return r;
}

int verb_task_run(struct call *call, struct error *err)
{
	struct task_run_request req = {.dir = call->args[0], .lenient = call_has(call, "lenient")};
	struct credentials *credentials = NULL;
	struct agent *agent = NULL;
	char path[PATH_MAX];
	struct places p;
	int r;

	if (find_places(call, &p, err) < 0 || choose_agent(call, p.folders.config, &req, &agent, err) < 0)
		return -1;
	if (snprintf(path, sizeof(path), "%s/credentials.yaml", p.folders.config) >= (int)sizeof(path))
		return error_set(err, ERROR_INPUT, "XDG_CONFIG_HOME: the path is too long");
	if (credentials_read(path, &credentials, err) < 0)
		return -1;
	req.credentials = credentials;
	req.model = call_value(call, "model");
	req.home = p.folders.home;
	req.out = p.out;
	req.scratch = p.scratch;
	r = run(call, &req, err);
	credentials_free(credentials);
	agent_free(agent);
	return r;
}
