/* Who holds the networks of services: sandboxes in which nothing of the task's runs, so that no service's end, and
 * nobody who can bring one about, takes the network from the others. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "task/services_parts.h"

enum { POLL_MS = 10, NOTICE_MS = 2000 };

/* Is there anybody who could join? A verifier that is a machine of its own joins the first. */
static bool is_shared(const struct flow *f, uint32_t net)
{
	uint32_t i, n = 0;

	for (i = 0; i < f->services->plan.n; i++)
		n += f->services->plan.steps[i].net == net;
	return net == 0 || n > 1;
}

static struct service_net *find(const struct flow *f, uint32_t net)
{
	return net < f->services->n_nets ? &f->services->nets[net] : NULL;
}

static bool has_ended(struct flow *f, struct service_net *n, int ms)
{
	struct pollfd p = {.fd = n->run.fd, .events = POLLIN};
	struct error ignored;
	struct task_ended e;

	if (!n->running || poll(&p, 1, ms) <= 0)
		return !n->running;
	n->running = false;
	(void)f->req->launcher->end(f->req->launcher->arg, &n->run, &e, &ignored);
	return true;
}

/* What a network's sandboxes may use where they live in one kernel: what the task has for its own, and what services
 * have by their own word. */
static void bound_group(const struct flow *f, uint32_t net, struct task_sandbox *t)
{
	struct task_environment own;
	struct bounds b = {0};
	bool memory = true, cpus = true, has_main = f->services->plan.steps[f->services->plan.main].net == net;
	uint32_t i;

	services_limit(f, &b, &own);
	for (i = 0; i < f->services->plan.n; i++) {
		const struct compose_service *c = f->services->plan.steps[i].service;
		bool main = i == f->services->plan.main;

		if (f->services->plan.steps[i].net != net)
			continue;
		/* beside the agent, a service without a word of its own has part of what the task has */
		memory &= main ? own.memory.set : has_main || c->memory;
		cpus &= main ? own.cpus.set : has_main || c->cpus;
		t->group_memory += main ? own.memory.v : c->memory;
		t->group_cpus += main ? own.cpus.v : c->cpus;
	}
	t->group_memory = memory ? t->group_memory : 0;
	t->group_cpus = cpus ? t->group_cpus : 0;
}

static int start(struct flow *f, uint32_t net, struct service_net *n)
{
	static const char *const none[] = {NULL};
	char shown[] = "(holds the network of the services)", *argv[] = {shown, NULL};
	struct task_environment limits = {0};
	struct bounds bounds = {.network = services_network(f),
				.offline = net != 0 || f->services->plan.closed,
				.environment = &limits};
	struct task_sandbox t = {.name = net ? arena_printf(f->arena, "network-%u", net) : "network",
				 .phase = "agent",
				 .argv = argv,
				 .holds = true};
	AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!t.name)
		return flow_no_memory(f);
	if (null < 0 || image_work_new(f->store, &n->work, f->err) < 0) {
		if (null < 0)
			(void)error_sys(f->err, errno, "/dev/null");
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	bound_group(f, net, &t);
	t.root = (struct image_root){.layers = (const char *const *)f->image.layers,
				     .upper = n->work.upper,
				     .work = n->work.work,
				     .ids = f->image.ids,
				     .env = none,
				     .cwd = "/",
				     .storage = flow_storage(f)};
	t.in = t.out = null;
	if (flow_write(f, &t, &bounds) < 0)
		return -1;
	if (f->req->launcher->start(f->req->launcher->arg, &t, &n->run, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	n->running = true;
	return 0;
}

/* It was to be joined, and could not be made. */
static int not_started(struct flow *f, struct service_net *n)
{
	struct task_ended e = {0};

	n->running = false;
	if (f->req->launcher->end(f->req->launcher->arg, &n->run, &e, f->err) == 0 && e.error.kind)
		*f->err = e.error;
	(void)error_prefix(f->err, "the services' network");
	return flow_fail(f, f->err->kind == ERROR_DENIED ? TASK_REFUSED : TASK_INFRASTRUCTURE_ERROR);
}

int services_net_hold(struct flow *f, uint32_t net)
{
	struct service_net *n;
	uint32_t i;

	if (!f->services->nets) {
		for (i = 0; i < f->services->plan.n; i++)
			if (f->services->plan.steps[i].net >= f->services->n_nets)
				f->services->n_nets = f->services->plan.steps[i].net + 1;
		f->services->nets = arena_array(f->arena, f->services->n_nets, sizeof(*f->services->nets));
		for (i = 0; f->services->nets && i < f->services->n_nets; i++)
			f->services->nets[i].work.lock = -1;
	}
	if (!f->services->nets) {
		f->services->n_nets = 0;
		return flow_no_memory(f);
	}
	n = find(f, net);
	if (n->held || !is_shared(f, net))
		return 0;
	n->held = true;
	if (start(f, net, n) < 0)
		return -1;
	return n->run.run[0] ? 0 : not_started(f, n);
}

const char *services_net(struct flow *f, uint32_t net)
{
	struct service_net *n = find(f, net);

	return n && !has_ended(f, n, 0) ? n->run.run : NULL;
}

bool services_net_first(struct flow *f, uint32_t net)
{
	struct service_net *n = find(f, net);
	bool first = n && n->running && !n->joined;

	if (n)
		n->joined = true;
	return first;
}

void services_lost(struct flow *f)
{
	uint32_t i;

	/* that of a group in one kernel goes with it, a moment later than who was heard of first */
	for (i = 0; f->services && i < f->services->n_nets; i++)
		(void)has_ended(f, &f->services->nets[i], NOTICE_MS);
}

bool services_net_ended(struct flow *f, uint32_t net)
{
	struct service_net *n = find(f, net);

	return !n || has_ended(f, n, NOTICE_MS);
}

void services_net_stop(struct flow *f, int64_t end)
{
	uint32_t i;

	for (i = 0; i < f->services->n_nets; i++)
		if (f->services->nets[i].running)
			attend_stop(&f->services->nets[i].run, 0);
	for (i = 0; i < f->services->n_nets; i++) {
		while (!has_ended(f, &f->services->nets[i], POLL_MS))
			if (now_ms() > end)
				(void)kill(f->services->nets[i].run.pid, SIGKILL);
		image_work_done(f->store, &f->services->nets[i].work);
	}
}
