#include "cli/launch_task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cli_policy.h"
#include "cli/launch.h"
#include "cli/runtime_pick.h"
#include "task/grants.h"

/* The options that cli_policy.h and runtime_pick.h look for. */
static const struct option options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_RUNTIME,
	{"phase", 0, "PHASE", NULL, "The operator's words for this phase go on top.", OPTION_HIDDEN},
	{"bounds", 0, "FILE", NULL, "What the task asks for.", OPTION_HIDDEN},
	{0},
};

enum { OPTION_AT_POLICY, OPTION_AT_PROFILE, OPTION_AT_RUNTIME, OPTION_AT_PHASE, OPTION_AT_BOUNDS, OWN_VALUES = 4 };

/* The policies of the command line, or the profile `task`, and what belongs to the phase. *ret borrows from both. */
static int make_call(const struct call *from, const struct task_sandbox *s, struct call *ret,
		     struct option_value **ret_values, struct error *err)
{
	size_t room = from->n_values + OWN_VALUES, at = 0, n = 0, i;
	const struct option_value *given;
	struct option_value *v;
	bool named = false;

	for (i = 0; s->profiles && s->profiles[i]; i++)
		room++;
	v = calloc(room, sizeof(*v));

	if (!v)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	while ((given = call_next(from, NULL, &at))) {
		const char *name = given->option->name;
		int which = strcmp(name, "policy") == 0    ? OPTION_AT_POLICY
			    : strcmp(name, "profile") == 0 ? OPTION_AT_PROFILE
			    : strcmp(name, "runtime") == 0 ? OPTION_AT_RUNTIME
							   : -1;

		if (which >= 0)
			v[n++] = (struct option_value){&options[which], given->value};
		named |= which == OPTION_AT_POLICY || which == OPTION_AT_PROFILE;
	}
	if (!named)
		v[n++] = (struct option_value){&options[OPTION_AT_PROFILE], "task"};
	for (i = 0; s->profiles && s->profiles[i]; i++)
		v[n++] = (struct option_value){&options[OPTION_AT_PROFILE], s->profiles[i]};
	if (s->policy)
		v[n++] = (struct option_value){&options[OPTION_AT_POLICY], s->policy};
	v[n++] = (struct option_value){&options[OPTION_AT_PHASE], s->phase};
	if (s->bounds)
		v[n++] = (struct option_value){&options[OPTION_AT_BOUNDS], s->bounds};
	*ret = (struct call){.verb = from->verb,
			     .command = (char **)(uintptr_t)s->argv,
			     .argv = from->argv,
			     .out = from->out,
			     .values = v,
			     .n_values = n};
	*ret_values = v;
	return 0;
}

/* To whoever waits for it: the sandbox can be joined. Once; with "" where it never will. */
struct started {
	int to;
	bool told;
};

static void tell_ready(void *arg, const char *id)
{
	struct started *s = arg;
	char run[TASK_RUN_ID] = "";

	if (s->told)
		return;
	(void)snprintf(run, sizeof(run), "%s", id);
	s->told = true;
	(void)write_all(s->to, run, sizeof(run)); /* a runner that is gone takes us with it */
}

/* One byte: then neither a file nor a program that the kernel pipes to gets a core, and with it the values. Where the
 * limit is 0 already it cannot be that, and no file is written. */
static void forbid_cores(void)
{
	struct rlimit now, none = {1, 1};

	if (getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_max > 0)
		(void)setrlimit(RLIMIT_CORE, &none);
}

static int run_one(const struct call *call, const struct task_sandbox *s, struct started *started,
		   struct task_ended *ended, struct error *err)
{
	struct cli_policy p = {0};
	struct launch_outcome outcome = {.ready = tell_ready, .arg = started};
	struct image_root root = s->root;
	struct launch_request req = {.call = call,
				     .policy = &p,
				     .argv = s->argv,
				     .events_path = s->events,
				     .outcome = &outcome,
				     .image = &root,
				     .join = s->join,
				     .first = s->first,
				     .group_memory = s->group_memory,
				     .group_cpus = s->group_cpus,
				     .env_arguments = s->pass};
	struct keep_request held = {.ready = -1};
	struct credentials *c = NULL;
	struct runtime_pick pick;
	struct grants grants = {0};
	int r = cli_policy_load(call, NULL, 0, &p, err);

	if (s->holds)
		req.keep = &held;
	while (s->pass && s->pass[req.n_env_arguments])
		req.n_env_arguments++;
	if (r == 0)
		r = runtime_pick(call, &p, false, &pick, err);
	if (r == 0 && s->n_grants)
		r = cli_credentials(&p, &c, err);
	if (r == 0 && s->n_grants)
		forbid_cores();
	if (r == 0)
		r = grants_fetch(&grants, s, c, &root.env, err);
	if (r == 0) {
		req.pick = &pick;
		(void)snprintf(ended->runtime, sizeof(ended->runtime), "%s", runtime_names[pick.runtime]);
		r = launch(&req, err);
		memcpy(ended->isolation, outcome.isolation, sizeof(ended->isolation));
		ended->denials = outcome.denials;
		ended->timed_out = outcome.timed_out;
		ended->lost = r < 0 && outcome.lost;
		if (outcome.gateway.n && outcome.gateway.n < sizeof(ended->usage)) {
			memcpy(ended->usage, outcome.gateway.p, outcome.gateway.n);
			ended->n_usage = outcome.gateway.n;
		}
		buf_done(&outcome.gateway);
	}
	grants_wipe(&grants);
	credentials_free(c);
	cli_policy_done(&p);
	return r;
}

/* In the child: nothing of the caller's but what the sandbox gets. */
static int supervise_one(const struct call *from, const struct task_sandbox *s, struct started *started,
			 struct task_ended *ended)
{
	struct option_value *values = NULL;
	struct error err = {0};
	struct call call;
	int r;

	if (dup2(s->in, STDIN_FILENO) < 0 || dup2(s->out, STDOUT_FILENO) < 0 || dup2(s->out, STDERR_FILENO) < 0)
		r = error_sys(&err, errno, "standard input and output of the sandbox");
	else
		r = make_call(from, s, &call, &values, &err);
	if (r == 0)
		r = run_one(&call, s, started, ended, &err);
	free(values);
	tell_ready(started, "");
	ended->error = err;
	return r < 0 ? cli_exit_status(&err) : r;
}

/* Bounds of a task take away; they allow nothing. */
static int check(void *arg, const char *phase, struct error *err)
{
	const struct task_sandbox s = {.phase = phase};
	struct option_value *values = NULL;
	struct cli_policy p = {0};
	struct call call;
	int r = make_call(arg, &s, &call, &values, err);

	if (r == 0) {
		r = cli_policy_load(&call, NULL, 0, &p, err);
		cli_policy_done(&p);
	}
	free(values);
	return r;
}

/* False: the other side ended before. */
static bool read_all(int fd, void *to, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size && ((got = read(fd, (char *)to + n, size - n)) > 0 || (got < 0 && errno == EINTR)))
		n += got > 0 ? (size_t)got : 0;
	return n == size;
}

static int start(void *arg, const struct task_sandbox *s, struct task_running *ret, struct error *err)
{
	pid_t parent = getpid(), pid;
	struct task_ended ended = {0};
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	pid = fork();
	if (pid == 0) {
		struct started started = {.to = p[1]};

		/* the whole group ends with the runner */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(125);
		(void)close(p[0]);
		ended.status = supervise_one(arg, s, &started, &ended);
		_exit(write_all(p[1], &ended, sizeof(ended)) < 0 ? 125 : 0);
	}
	(void)close(p[1]);
	if (pid < 0) {
		(void)close(p[0]);
		return error_sys(err, errno, "fork");
	}
	*ret = (struct task_running){.pid = pid, .fd = p[0]};
	if (!read_all(p[0], ret->run, sizeof(ret->run)))
		ret->run[0] = '\0'; /* end() says that it is gone */
	return 0;
}

static int end(void *arg, struct task_running *r, struct task_ended *ret, struct error *err)
{
	struct task_ended e;
	bool whole;

	(void)arg;
	whole = read_all(r->fd, &e, sizeof(e));
	(void)close(fd_take(&r->fd));
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!whole)
		return error_set(err, ERROR_SYSTEM,
				 "the supervisor of a sandbox ended without a word; was it killed from outside?");
	*ret = e;
	return 0;
}

void launch_task_init(const struct call *call, struct task_launcher *ret)
{
	*ret = (struct task_launcher){.check = check, .start = start, .end = end, .arg = (void *)(uintptr_t)call};
}
