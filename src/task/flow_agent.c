/* Setup and agent: what happens in the sandbox that is judged later. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "task/flow.h"
#include "task/services.h"
#include "task/layer.h"
#include "task/volumes.h"

static int timed_out(struct flow *f, const char *who, uint64_t ms)
{
	(void)error_set(f->err, ERROR_DENIED, "%s did not end within %llu s", who, (unsigned long long)ms / 1000);
	return flow_fail(f, TASK_TIMEOUT);
}

/* A shell command of the task's, in the agent's files. c has all but what the task says. */
static int try_command(struct flow *f, const struct task_command *t, struct flow_command *c, struct task_ended *ret)
{
	const char *argv[] = {"/bin/sh", "-c", t->command.s, NULL};
	struct flow_env env = *c->env;

	if (flow_env_table(f, &env, &t->env) < 0)
		return -1;
	c->argv = (char *const *)(uintptr_t)argv;
	c->env = &env;
	c->cwd = t->cwd.s;
	c->user = t->user.s;
	c->timeout_ms = t->timeout.set ? t->timeout.v : TASK_DEFAULT_SETUP_MS;
	return flow_run(f, c, ret);
}

/* The same before there was an agent: it must end well. */
static int run_command(struct flow *f, const struct task_command *t, struct flow_command *c)
{
	struct task_ended e = {0};
	struct text_shown shown;

	if (try_command(f, t, c, &e) < 0)
		return -1;
	if (e.timed_out)
		return timed_out(f, "a command of the task", c->timeout_ms);
	if (e.status == 0)
		return 0;
	(void)error_set(f->err, ERROR_INPUT,
			"the task's command %s failed with status %d; output/%s.txt has what it said",
			text_show(&shown, sv_of(t->command.s)), e.status, c->name);
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

/* *ret_ill: it ran, and did not end well. */
static int check_health(struct flow *f, const struct task_healthcheck *h, struct flow_command *c, bool *ret_ill)
{
	const char *argv[] = {"/bin/sh", "-c", h->command.s, NULL};
	uint64_t retries = h->retries.set ? h->retries.v : 3, failed = 0;
	uint64_t interval = h->interval.set ? h->interval.v : 5000,
		 starting = h->start_period.set ? h->start_period.v : 0, pause;
	int64_t began = now_ms();
	struct task_ended e = {0};

	c->argv = (char *const *)(uintptr_t)argv;
	c->timeout_ms = h->timeout.set ? h->timeout.v : 30000;
	for (;;) {
		if (flow_run(f, c, &e) < 0)
			return -1;
		if (e.status == 0)
			return 0;
		/* as Docker has it: what fails while it starts does not count */
		failed += (uint64_t)(now_ms() - began) >= starting;
		if (failed >= retries)
			break;
		pause = (uint64_t)(now_ms() - began) < starting && h->start_interval.set ? h->start_interval.v
											 : interval;
		if (flow_pause(f, pause < 60000 ? pause : 60000) < 0)
			return -1;
	}
	*ret_ill = true;
	(void)error_set(f->err, ERROR_INPUT,
			"the task's environment is not healthy: its health check failed %llu times; output/setup.txt "
			"has what it said",
			(unsigned long long)retries);
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

/* The compose file's, of the agent's own service: Docker's tools wait for it, too. */
static int check_service(struct flow *f, struct flow_command *c)
{
	const struct compose_check *h = services_check(f);
	uint32_t retries = h && h->retries ? h->retries : 1, failed = 0;
	int64_t began = now_ms();
	struct task_ended e = {0};
	uint64_t pause;

	if (!h)
		return 0;
	c->argv = h->argv;
	c->timeout_ms = h->timeout;
	for (;;) {
		if (flow_run(f, c, &e) < 0)
			return -1;
		if (e.status == 0 && !e.timed_out)
			return 0;
		pause = (uint64_t)(now_ms() - began) < h->start_period ? h->start_interval : h->interval;
		failed += (uint64_t)(now_ms() - began) >= h->start_period;
		if (failed >= retries)
			break;
		if (flow_pause(f, pause < 60000 ? pause : 60000) < 0)
			return -1;
	}
	(void)error_set(f->err, ERROR_INPUT,
			"%s: the agent's own service is not healthy: its healthcheck failed %u times; output/setup.txt "
			"has what it said",
			f->task->files.compose, failed);
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

int flow_setup(struct flow *f)
{
	const struct task_environment *t = &f->task->environment;
	struct flow_env env = {0};
	struct flow_command c = {
		.name = "setup", .phase = "setup", .env = &env, .work = &f->agent, .network = &t->network, .in = -1};
	bool ill = false;
	uint32_t i;

	if (t->setup.n == 0 && !t->healthcheck.command.s && !f->services)
		return 0;
	flow_begin(f, PHASE_SETUP);
	if (services_start(f) < 0 || flow_environment(f, &f->image, &env) < 0)
		return -1;
	for (i = 0; i < t->setup.n; i++) {
		struct flow_command one = c;

		if (run_command(f, &t->setup.v[i], &one) < 0)
			return -1;
	}
	if (check_service(f, &c) < 0 || (t->healthcheck.command.s && check_health(f, &t->healthcheck, &c, &ill) < 0))
		return -1;
	flow_end(f, PHASE_SETUP, 0);
	return 0;
}

/* A step may have a health check besides the environment's. */
static int check_step(struct flow *f)
{
	struct flow_env env = {0};
	struct flow_command c = {.name = "setup",
				 .phase = "setup",
				 .env = &env,
				 .work = &f->agent,
				 .network = &f->task->environment.network,
				 .in = -1};
	bool ill = false;

	if (!f->step || !f->step->healthcheck.command.s)
		return 0;
	if (flow_environment(f, &f->image, &env) < 0)
		return -1;
	if (check_health(f, &f->step->healthcheck, &c, &ill) == 0)
		return 0;
	(void)flow_spoiled(f);
	/* it was well before the agent came */
	f->spoiled |= ill && f->steps.n > 0;
	return -1;
}

/* What the agent made of its shell and its folders does not end a run that it would have failed: the tests judge what
 * is there. */
static int collect_by(struct flow *f, const struct task_command *t, struct flow_command *c)
{
	struct task_ended e = {0};
	struct text_shown shown;

	if (try_command(f, t, c, &e) < 0) {
		if (!flow_in_the_way(f))
			return -1;
	} else if (e.status == 0 && !e.timed_out) {
		return 0;
	}
	(void)task_result_find(f->result, "collect-failed", text_show(&shown, sv_of(t->command.s)),
			       "the command did not end well in what the agent left; the tests judge what is there, "
			       "and output/collect.txt has what it said");
	return 0;
}

int flow_collect_commands(struct flow *f)
{
	const struct task_commands *all = &flow_verifier_of(f)->collect;
	struct flow_env env = {0};
	uint32_t i;

	if (all->n && flow_environment(f, &f->image, &env) < 0)
		return -1;
	for (i = 0; i < all->n; i++) {
		struct flow_command c = {.name = "collect",
					 .phase = "agent",
					 .env = &env,
					 .work = &f->agent,
					 .network = &f->task->environment.network,
					 .in = -1};

		if (collect_by(f, &all->v[i], &c) < 0)
			return -1;
	}
	return 0;
}

static int show_solution(struct flow *f, struct image_work *to, const char ***ret_argv)
{
	const struct task_files *files = flow_files(f);
	struct flow_shown what = {.folder = files->solution, .script = files->solve_script};

	if (!what.script) {
		(void)error_set(f->err, ERROR_INPUT,
				"the task has no solution for the oracle to run; choose another --agent");
		return flow_fail(f, TASK_AGENT_ERROR);
	}
	what.targets[0] = f->task->format == TASK_TERMINAL ? "/oracle" : "/solution";
	if (f->task->format == TASK_DOCUMENT)
		what.targets[1] = "/oracle";
	return flow_show(f, to, &what, ret_argv);
}

static int open_instruction(struct flow *f, int *ret)
{
	const char *text = flow_instruction(f);
	AUTO_FD fd = openat(f->scratch.fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 || write_all(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		(void)error_sys(f->err, errno, "the instruction");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	*ret = fd_take(&fd);
	return 0;
}

/* The task's own solution. */
static int prepare_oracle(struct flow *f, struct image_work *extra, struct flow_command *c)
{
	const struct task_solution *s = &f->task->solution;
	const char **argv = NULL;

	if (show_solution(f, extra, &argv) < 0 || flow_env_table(f, c->env, &s->env) < 0)
		return -1;
	c->argv = (char *const *)(uintptr_t)argv;
	if (s->timeout.set)
		c->timeout_ms = s->timeout.v;
	return 0;
}

static const char *const *strings(struct flow *f, const struct pol_list *from)
{
	const char **v = arena_array(f->arena, from->n + 1, sizeof(*v));
	uint32_t i;

	for (i = 0; v && i < from->n; i++)
		v[i] = from->v[i].s;
	return v;
}

/* An agent that the operator described: its programs, its variables, its policy. */
static int prepare_described(struct flow *f, struct flow_command *c)
{
	const struct agent *a = f->req->agent;
	struct agent_use use = {.model = f->req->model, .instruction = AGENT_INSTRUCTION};
	struct image_mount *mounts = NULL;
	const char **env = NULL;
	char **argv = NULL;

	if (agent_argv(a, &use, f->arena, &argv, f->err) < 0 || agent_env(a, &use, f->arena, &env, f->err) < 0 ||
	    agent_mounts(a, f->req->home, f->arena, &mounts, &c->n_mounts, f->err) < 0)
		return flow_fail(f, TASK_AGENT_ERROR);
	c->argv = argv;
	c->mounts = mounts;
	c->profiles = strings(f, &a->profiles);
	c->pass = strings(f, &a->env_pass);
	c->policy = a->policy;
	if (a->timeout_ms && a->timeout_ms < c->timeout_ms)
		c->timeout_ms = a->timeout_ms;
	return flow_env_pairs(f, c->env, env);
}

static int prepare_agent(struct flow *f, struct image_work *extra, struct flow_command *c)
{
	const struct agent *a = f->req->agent;

	if (a && a->kind == AGENT_ORACLE)
		return prepare_oracle(f, extra, c);
	if (flow_add_text(f, extra, AGENT_INSTRUCTION, flow_instruction(f)) < 0 ||
	    flow_env_add(f, c->env, "CORDON_INSTRUCTION", AGENT_INSTRUCTION) < 0)
		return -1;
	if (flow_mcp(f, extra, c->env) < 0 || (a && prepare_described(f, c) < 0))
		return -1;
	if (!a)
		c->argv = f->req->command;
	return a && !a->stdin_instruction ? 0 : open_instruction(f, &c->in);
}

enum asked { ASKED_NONE, ASKED_IN_VAIN, ASKED_ANSWERED };

/* Was a model asked, and did one say anything, by the gateway's own account? */
static enum asked model_asked(const struct task_ended *e)
{
	static const char key[] = "\"output_tokens\":";
	const char *at = e->usage, *end = e->usage + e->n_usage;
	enum asked asked = ASKED_NONE;

	/* names in it are escaped: the key stands nowhere else */
	while ((at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1))) {
		at += sizeof(key) - 1;
		asked = ASKED_IN_VAIN;
		if (at < end && *at >= '1' && *at <= '9')
			return ASKED_ANSWERED;
	}
	return asked;
}

/*
 * The agent gave up, or its time was over while it still tried, before there was anything to be judged. The built-in
 * one says so itself where it never came as far as asking. Of a command that stands on our command line nobody knows
 * whether it needs a model.
 */
static bool without_model(const struct flow *f, const struct task_ended *e)
{
	const struct agent *a = f->req->agent;
	bool gave_up = a && a->kind == AGENT_CORDON ? e->status == AGENT_EXIT_NO_MODEL : e->status != 0;
	enum asked asked = model_asked(e);

	if (!a || a->kind == AGENT_ORACLE || asked == ASKED_ANSWERED || !(e->timed_out || gave_up))
		return false;
	return asked == ASKED_IN_VAIN || (a->kind == AGENT_CORDON && !e->timed_out);
}

static int run_agent(struct flow *f, struct image_work *extra)
{
	const struct task_agent *a = flow_agent_of(f);
	struct flow_env env = {0};
	struct flow_command c = {.name = "agent",
				 .phase = "agent",
				 .env = &env,
				 .work = &f->agent,
				 .user = a->user.s,
				 .layers = {extra->upper},
				 .in = -1};
	struct task_ended e = {0};
	int r;

	c.network = a->network.mode.set ? &a->network : &f->task->environment.network;
	c.timeout_ms = a->timeout.set ? a->timeout.v : TASK_DEFAULT_AGENT_MS;
	if (services_allow(f, c.network, false) < 0 || flow_environment(f, &f->image, &env) < 0 ||
	    prepare_agent(f, extra, &c) < 0)
		return -1;
	r = flow_run(f, &c, &e);
	if (c.in >= 0)
		(void)close(c.in);
	if (r < 0)
		return flow_spoiled(f);
	flow_end(f, PHASE_AGENT, e.status);
	f->result->agent_timed_out |= e.timed_out;
	if (!e.timed_out && e.error.kind != ERROR_NONE) {
		*f->err = e.error;
		(void)flow_fail(f, TASK_AGENT_ERROR);
		return flow_spoiled(f);
	}
	if (without_model(f, &e)) {
		(void)error_set(f->err, ERROR_INPUT,
				"no model answered the agent%s; output/agent.txt says why (inference.providers of "
				"--policy opens models)",
				e.timed_out ? " before its time was over" : "");
		return flow_fail(f, TASK_AGENT_ERROR);
	}
	/* what it left is judged, also where its time was over: as good as that of an agent that ended by itself a
	 * moment before */
	return 0;
}

int flow_agent(struct flow *f)
{
	struct image_work extra = {.lock = -1};
	int r;

	flow_begin(f, PHASE_AGENT);
	if (volumes_unsettle(f) < 0 || check_step(f) < 0)
		return -1;
	if (f->req->agent && f->req->agent->kind == AGENT_NONE) {
		flow_end(f, PHASE_AGENT, 0);
		return 0;
	}
	if (image_work_new(f->store, &extra, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	r = run_agent(f, &extra);
	image_work_done(f->store, &extra);
	return r;
}
