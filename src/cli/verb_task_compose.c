#include "cli/verb_task_compose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/task_look.h"
#include "cli/task_progress.h"
#include "sys/tree.h"
#include "task/build_host.h"
#include "task/compose_up.h"

enum { TEXT_MAX = 16 << 20 };

#define OPTION_NAME                                                                                                    \
	{                                                                                                              \
		"name", 0, "NAME", NULL,                                                                               \
			"What it is called: lower-case letters, digits and dashes. Without it, as DIR is.", 0          \
	}
#define OPTION_LENIENT                                                                                                 \
	{                                                                                                              \
		"lenient", 0, NULL, NULL,                                                                              \
			"Take keys that are not known, with a warning, in place of refusing the task.", 0              \
	}

const struct option verb_task_compose_options[] = {OPTION_NAME, OPTION_LENIENT, {0}};
const struct option verb_task_up_options[] = {
	OPTION_NAME,
	{"build-network", 0, NULL, NULL,
	 "Let RUN instructions use the engine's network, which reaches all that this machine reaches.", 0},
	OPTION_LENIENT,
	{0},
};

/* The options that cli_policy.h looks for. */
static const struct option policy_options[] = {
	CLI_OPTION_PROFILE,
	{"phase", 0, "PHASE", NULL, "The operator's words for this phase go on top.", OPTION_HIDDEN},
	CLI_OPTION_RUNTIME,
};

/* The profile of tasks, below the operator's ceiling, which is asked whether it lets the runtime be used. runtime:
 * NULL: nothing is to be run. */
static int load_policy(const struct call *call, const char *phase, const char *runtime, struct cli_policy *ret,
		       struct error *err)
{
	const struct option_value values[] = {
		{&policy_options[0], "task"}, {&policy_options[1], phase}, {&policy_options[2], runtime}};
	const struct call with = {.verb = call->verb,
				  .argv = call->argv,
				  .out = call->out,
				  .values = values,
				  .n_values = runtime ? 3 : 2};

	return cli_policy_load(&with, NULL, CLI_POLICY_NOWHERE, ret, err);
}

static int load_bounds(const struct call *call, const char *runtime, struct compose_file_request *to, struct error *err)
{
	struct cli_policy p = {0};
	int r = load_policy(call, "agent", runtime, &p, err);

	if (r == 0) {
		to->memory = p.policy->process.memory.v;
		to->cpus = p.policy->process.cpus.v;
		to->pids = p.policy->process.max_processes.v;
	}
	cli_policy_done(&p);
	return r;
}

/* An engine's network cannot be held to less than all that there is. */
static int allow_network(const struct call *call, struct error *err)
{
	struct cli_policy p = {0};
	int r = load_policy(call, "build", "docker", &p, err);

	if (r == 0 && p.policy->net.mode.v != NET_PUBLIC)
		r = error_set(err, ERROR_DENIED,
			      "--build-network: the operator's policy gives builds the network `%s`, and Docker "
			      "Engine's builder cannot be held to that; leave the option out",
			      net_mode_names[p.policy->net.mode.v]);
	cli_policy_done(&p);
	return r;
}

static int find_project(const struct call *call, struct compose_project *ret, struct error *err)
{
	const char *name = call_value(call, "name");
	char own[COMPOSE_NAME_MAX + 1];
	struct cli_folders folders;

	if (!name) {
		compose_name_of(call->args[0], own);
		name = own;
	}
	return cli_folders(&folders, err) < 0 ? -1 : compose_project(folders.state, name, ret, err);
}

/* What the verbs have in common: the task, and its file. */
struct looked {
	struct compose_project project;
	struct compose_file_request req;
	struct compose_file file;
	struct task_problems problems;
	struct task *task;
	struct modes modes; /* that the files of the stage had */
	struct arena *arena;
};

static int look_new(struct looked *l, struct error *err)
{
	*l = (struct looked){.arena = arena_new()};
	buf_init(&l->file.text, TEXT_MAX);
	l->problems.arena = l->arena;
	return l->arena ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}

static void look_done(struct looked *l)
{
	buf_done(&l->file.text);
	task_free(l->task);
	modes_done(&l->modes);
	arena_free(l->arena);
}

static void tell_warnings(const struct call *call, const struct task_problems *problems)
{
	AUTO_BUF line = {0};
	uint32_t i;

	buf_init(&line, 1 << 16);
	for (i = 0; i < problems->n; i++) {
		buf_clear(&line);
		task_look_problem(&line, &problems->v[i]);
		call_note(call, "%.*s", line.n ? (int)line.n - 1 : 0, line.p ? line.p : "");
	}
}

/* 0: the file is made; 1: the task is refused, and why was printed. */
static int look(const struct call *call, int stage, struct looked *l, struct error *err)
{
	bool lenient = call_has(call, "lenient");
	AUTO_BUF out = {0};

	if (task_look(call->args[0], stage, &l->modes, lenient, true, &l->task, &l->problems, err) < 0) {
		if (!l->problems.refused || err->kind != ERROR_INPUT)
			return -1;
		buf_init(&out, TEXT_MAX);
		task_look_print(&out, call->args[0], NULL, &l->problems);
		return cli_print(call, &out, err) < 0 ? -1 : 1;
	}
	tell_warnings(call, &l->problems);
	l->req.project = &l->project;
	l->req.stage = stage;
	l->req.task = l->task;
	l->req.lenient = lenient;
	return compose_file(&l->req, l->arena, &l->file, err);
}

int verb_task_compose(struct call *call, struct error *err)
{
	AUTO_SCRATCH scratch = SCRATCH_NONE;
	struct looked l;
	int r = look_new(&l, err);

	if (r == 0 && (find_project(call, &l.project, err) < 0 || load_bounds(call, NULL, &l.req, err) < 0 ||
		       task_look_scratch(&scratch, err) < 0))
		r = -1;
	if (r == 0)
		r = look(call, scratch.fd, &l, err);
	if (r == 0) {
		(void)buf_char(&l.file.text, '\n');
		r = cli_print(call, &l.file.text, err);
	}
	look_done(&l);
	return r;
}

static void say_up(const struct call *call, const struct looked *l, const char *container)
{
	const struct task_environment *e = &l->task->environment;
	uint32_t n = l->file.compose->n_services;

	(void)fprintf(call->out, "%s: %u service%s, without a network\n", l->project.name, (unsigned)n,
		      n == 1 ? "" : "s");
	(void)fprintf(call->out, "a shell:  docker exec -it %s sh\nto end:   cordon task down %s\n", container,
		      l->project.name);
	if (e->setup.n || e->healthcheck.command.s)
		call_note(call, "the setup commands and the health check of task.toml were not run; `cordon task run` "
				"runs them");
}

/* Whatever went wrong, or was refused, leaves nothing, or says what. */
static void take_back(const struct call *call, const struct looked *l, const struct compose_held *held)
{
	struct error left = {0};

	if (compose_abandon(&l->project, held, environ, &left) < 0)
		call_note(call, "%s", left.text);
}

static int up(struct call *call, struct looked *l, const struct compose_held *held, struct error *err)
{
	struct compose_up up = {.project = &l->project,
				.held = held,
				.file = &l->file,
				.modes = &l->modes,
				.build_network = call_has(call, "build-network"),
				.environment = environ};
	char container[COMPOSE_CONTAINER_MAX];
	struct task_progress progress;
	struct progress shown;
	int r = look(call, held->stage, l, err);

	if (r != 0)
		return r;
	task_progress_init(&shown, call, &progress);
	up.progress = &progress;
	up.storage = build_storage(&l->task->environment);
	up.build_ms =
		l->task->environment.build_timeout.set ? l->task->environment.build_timeout.v : TASK_DEFAULT_BUILD_MS;
	r = compose_up(&up, l->arena, container, err);
	task_progress_done(&shown);
	if (r == 0)
		say_up(call, l, container);
	return r;
}

int verb_task_up(struct call *call, struct error *err)
{
	struct compose_held held = COMPOSE_HELD_NONE;
	struct looked l;
	int r = look_new(&l, err);

	if (r == 0 && (find_project(call, &l.project, err) < 0 || load_bounds(call, "docker", &l.req, err) < 0))
		r = -1;
	if (r == 0 && call_has(call, "build-network"))
		r = allow_network(call, err);
	if (r == 0)
		r = compose_hold(&l.project, &held, err);
	if (r == 0) {
		r = up(call, &l, &held, err);
		if (r != 0)
			take_back(call, &l, &held);
	}
	compose_release(&held);
	look_done(&l);
	return r;
}

/* The names that `down` takes. */
static int list(const struct call *call, const char *root, struct error *err)
{
	AUTO_FD dir = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : sys_list(dir);
	struct text_shown shown;
	const struct dirent *e;

	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(root)));
	while ((e = readdir(d)))
		if (compose_name_is_fine(e->d_name))
			(void)fprintf(call->out, "%s\n", e->d_name);
	(void)closedir(d);
	return 0;
}

int verb_task_down(struct call *call, struct error *err)
{
	struct compose_project p;
	struct error first = {0};
	struct cli_folders folders;
	int i, r = 0;

	if (cli_folders(&folders, err) < 0 || compose_project(folders.state, NULL, &p, err) < 0)
		return -1;
	if (call->n_args == 0)
		return list(call, p.root, err);
	/* one that cannot be ended does not keep the others from it */
	for (i = 0; i < call->n_args; i++) {
		if (compose_project(folders.state, call->args[i], &p, err) == 0 && compose_down(&p, environ, err) == 0)
			continue;
		if (r < 0)
			call_note(call, "%s", err->text);
		else
			first = *err;
		r = -1;
	}
	*err = first;
	return r;
}
