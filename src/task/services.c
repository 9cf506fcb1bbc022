#include "task/services.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "image/users.h"
#include "supervise/client.h"
#include "supervise/control.h"
#include "sys/beneath.h"
#include "task/services_parts.h"

enum { LOG_MAX = 16 << 20, STOP_MS = 3000, LOST_MS = 15000, POLL_MS = 100 };

/* A child that keeps what a service prints, up to a bound, and reads on so that the service never waits. Ends with its
 * last writer. */
static int start_log(struct flow *f, const char *name, int *ret)
{
	const char *file = arena_printf(f->arena, "service-%s.txt", name);
	AUTO_FD log = file ? flow_output(f, file) : -ENOMEM;
	char bytes[16384];
	size_t kept = 0;
	ssize_t n;
	int p[2];
	pid_t pid;

	if (log < 0 || pipe2(p, O_CLOEXEC) < 0)
		return error_sys(f->err, log < 0 ? log : errno, "output of the service %s", name);
	pid = fork();
	if (pid == 0) {
		(void)close(p[1]);
		while ((n = read(p[0], bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR))
			if (n > 0 && kept + (size_t)n <= LOG_MAX && write_all(log, bytes, (size_t)n) == 0)
				kept += (size_t)n;
		_exit(0);
	}
	(void)close(p[0]);
	if (pid < 0) {
		(void)close(p[1]);
		return error_sys(f->err, errno, "fork");
	}
	*ret = p[1];
	return 0;
}

static bool has_ended(struct flow *f, struct service *s)
{
	struct pollfd p = {.fd = s->run.fd, .events = POLLIN};
	struct task_ended e = {0};

	if (!s->running || poll(&p, 1, 0) <= 0)
		return !s->running;
	s->running = false;
	s->status = f->req->launcher->end(f->req->launcher->arg, &s->run, &e, &s->error) < 0 ? 125 : e.status;
	if (e.error.kind)
		s->error = e.error;
	return true;
}

/* One try of a health check, as `cordon exec` would run it. Its exit status; 124: it took too long. */
static int try_check(const struct flow *f, const struct service *s, const struct compose_check *c)
{
	struct pollfd signals = {.fd = f->attend.signals, .events = POLLIN};
	int64_t end = now_ms() + (int64_t)c->timeout;
	struct client_limit limit;
	struct error ignored;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC), sock;

		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(125);
		sock = control_connect(s->run.run);
		status = sock < 0 ? 125 : client_exec(sock, c->argv, false, &limit, &ignored);
		_exit(status < 0 ? 125 : status);
	}
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ms() >= end || poll(&signals, 1, POLL_MS / 5) > 0) {
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			return 124;
		}
	}
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

static int not_ready(struct flow *f, const struct service *s, const char *why)
{
	if (s->error.kind)
		(void)error_set(f->err, ERROR_SYSTEM, "the service %s %s: %.300s", s->step->service->name, why,
				s->error.text);
	else
		(void)error_set(f->err, ERROR_INPUT, "the service %s %s; output/service-%s.txt has what it said",
				s->step->service->name, why, s->step->service->name);
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

static int wait_healthy(struct flow *f, struct service *s)
{
	const struct compose_check *c = &s->step->check;
	int64_t began = now_ms();
	uint32_t failed = 0;
	uint64_t pause;
	bool starting;

	while (c->argv) {
		if (has_ended(f, s))
			return not_ready(f, s, "ended before it was healthy");
		if (try_check(f, s, c) == 0)
			return 0;
		if ((uint64_t)(now_ms() - began) > c->start_period)
			failed++;
		if (failed >= (c->retries ? c->retries : 1))
			return not_ready(f, s, "is not healthy");
		starting = (uint64_t)(now_ms() - began) < c->start_period;
		pause = starting ? c->start_interval : c->interval;
		if (flow_pause(f, pause < 60000 ? pause : 60000) < 0)
			return -1;
	}
	return has_ended(f, s) ? not_ready(f, s, "ended at once") : 0;
}

static int wait_completed(struct flow *f, struct service *s)
{
	int64_t end = now_ms() + TASK_DEFAULT_SETUP_MS;

	while (!has_ended(f, s)) {
		if (now_ms() > end)
			return not_ready(f, s, "did not end in time");
		if (flow_pause(f, POLL_MS) < 0)
			return -1;
	}
	return s->status == 0 ? 0 : not_ready(f, s, "failed");
}

static int wait_for(struct flow *f, const struct compose_step *step)
{
	uint32_t i;
	int r = 0;

	for (i = 0; r == 0 && i < step->n_waits; i++) {
		struct service *s = &f->services->v[step->waits[i].step];

		if (step->waits[i].condition == COMPOSE_HEALTHY)
			r = wait_healthy(f, s);
		else if (step->waits[i].condition == COMPOSE_COMPLETED)
			r = wait_completed(f, s);
	}
	return r;
}

/* A verifier that is a machine of its own is not the agent's service: it is with the others, whatever network that has.
 */
static uint32_t net_of_phase(const struct flow *f)
{
	const struct task_verifier *v = flow_verifier_of(f);

	return f->phase == PHASE_VERIFY && v->separate.set && v->separate.v
		       ? 0
		       : f->services->plan.steps[f->services->plan.main].net;
}

const char *services_leader(struct flow *f)
{
	return f->services ? services_net(f, net_of_phase(f)) : NULL;
}

bool services_offline(const struct flow *f)
{
	return f->services && (net_of_phase(f) != 0 || f->services->plan.closed);
}

const struct task_network *services_network(const struct flow *f)
{
	const struct task_network *agents = &f->task->agent.network;

	return agents->mode.set ? agents : &f->task->environment.network;
}

/* Nothing; or what never ends, for those who ask for an open input: many end where it ends. */
static int open_input(struct service *s)
{
	int p[2];

	if (!s->step->service->stdin_open && !s->step->service->tty)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	s->stdin_end = p[1];
	return p[0];
}

static int start_one(struct flow *f, struct service *s)
{
	const struct compose_service *c = s->step->service;
	struct task_sandbox t = {
		.name = arena_printf(f->arena, "service-%s", c->name), .phase = "agent", .in = -1, .out = -1};
	struct task_environment limits = {0};
	struct bounds bounds = {.network = services_network(f),
				.offline = s->step->net != 0 || f->services->plan.closed,
				.environment = &limits,
				.processes = c->pids};
	AUTO_FD nothing = open_input(s);
	AUTO_FD out = -1;

	if (!t.name || nothing < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	if (services_net_hold(f, s->step->net) < 0)
		return -1;
	t.join = services_net(f, s->step->net);
	t.first = services_net_first(f, s->step->net);
	limits.memory = (struct pol_num){.set = c->memory, .v = c->memory};
	limits.cpus = (struct pol_num){.set = c->cpus, .v = c->cpus};
	if (services_root(f, s, &t) < 0 || flow_write(f, &t, &bounds) < 0)
		return -1;
	if (start_log(f, c->name, &out) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	t.in = nothing;
	t.out = out;
	if (f->req->launcher->start(f->req->launcher->arg, &t, &s->run, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	s->running = true;
	if (s->run.run[0])
		return 0;
	/* it says why */
	(void)poll(NULL, 0, 1);
	(void)has_ended(f, s);
	return not_ready(f, s, "could not be started");
}

int services_start(struct flow *f)
{
	struct services *s = f->services;
	uint32_t i;

	for (i = 0; s && i < s->plan.n; i++) {
		if (flow_go_on(f) < 0 || wait_for(f, &s->plan.steps[i]) < 0)
			return -1;
		if (i != s->plan.main && start_one(f, &s->v[i]) < 0)
			return -1;
	}
	return 0;
}

static bool is_same(const struct task_network *a, const struct task_network *b)
{
	uint32_t i;

	if (a->mode.set != b->mode.set || (a->mode.set && a->mode.v != b->mode.v) || a->hosts.n != b->hosts.n)
		return false;
	for (i = 0; i < a->hosts.n && strcmp(a->hosts.v[i].s, b->hosts.v[i].s) == 0; i++)
		;
	return i == a->hosts.n;
}

/* Nobody of the group gets out from now on. */
static int close_group(struct flow *f, const char *leader)
{
	static const char closed[] = "{\"version\":1,\"network\":{\"mode\":\"none\",\"dns\":\"none\"}}\n";
	const char *path = arena_printf(f->arena, "%s/policy/closed.yaml", f->out_path);
	AUTO_FD fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
	AUTO_FD sock = -1;

	if (fd < 0 || write_all(fd, closed, sizeof(closed) - 1) < 0) {
		(void)error_sys(f->err, errno, "%s/policy/closed.yaml", f->out_path);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	sock = control_connect(leader);
	/* its end closed it */
	if (sock < 0 && services_net_ended(f, 0))
		return 0;
	if (sock < 0) {
		(void)error_sys(f->err, sock, "the services' network");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	/* without a gateway nothing was ever open */
	if (client_push(sock, path, -1, f->err) < 0 && f->err->kind != ERROR_DENIED) {
		(void)error_prefix(f->err, "the services' network cannot be closed for the verifier");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	return 0;
}

int services_allow(struct flow *f, const struct task_network *wanted, bool offline)
{
	const char *leader = f->services ? services_net(f, 0) : NULL;
	bool without = services_offline(f),
	     none = without || offline || (wanted->mode.set && wanted->mode.v == NET_NONE);

	if (!leader || f->services->plan.closed)
		return 0;
	/* of several steps a later one would find it closed */
	if (none && f->phase == PHASE_VERIFY && (f->task->n_steps < 2 || is_same(services_network(f), wanted)))
		return close_group(f, leader);
	if (without || (!offline && is_same(services_network(f), wanted)))
		return 0;
	(void)error_set(f->err, ERROR_INPUT,
			"%s: the network of the %s is another than that of the services, whose network it shares; "
			"declare the same, or no services",
			f->task->files.config, f->phase == PHASE_VERIFY ? "verifier" : "agent");
	return flow_fail(f, TASK_REFUSED);
}

static void stop_one(struct flow *f, struct service *s, int64_t end)
{
	while (!has_ended(f, s)) {
		if (now_ms() > end)
			(void)kill(s->run.pid, SIGKILL);
		(void)poll(NULL, 0, POLL_MS / 10);
	}
	cleanup_fd(&s->stdin_end);
	image_work_done(f->store, &s->work);
	if (s->has_image)
		image_done(&s->image);
	s->has_image = false;
}

/* All are asked before anybody is waited for. */
void services_stop(struct flow *f)
{
	int64_t end = now_ms() + LOST_MS;
	uint32_t i;

	if (!f->services)
		return;
	for (i = f->services->plan.n; i-- > 0;)
		if (f->services->v[i].running)
			attend_stop(&f->services->v[i].run, f->result->signal ? ATTEND_GRACE_MS : STOP_MS);
	for (i = f->services->plan.n; i-- > 0;)
		stop_one(f, &f->services->v[i], end);
	services_net_stop(f, end);
	f->services = NULL;
	/* those that kept their output */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}
