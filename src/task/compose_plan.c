#include "task/compose_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

struct ordering {
	const struct compose *c;
	enum { WAITING, OPEN, DONE } state[COMPOSE_SERVICES_MAX];
	uint32_t order[COMPOSE_SERVICES_MAX];
	uint32_t n;
};

/* Whose network it is in starts before it, too. */
static int visit(struct ordering *o, uint32_t at, struct error *err);

static int visit_name(struct ordering *o, const char *name, struct error *err)
{
	int at = compose_find(o->c, name);

	return at < 0 ? 0 : visit(o, (uint32_t)at, err);
}

static int visit(struct ordering *o, uint32_t at, struct error *err)
{
	const struct compose_service *s = &o->c->services[at];
	struct text_shown name;
	uint32_t i;

	if (o->state[at] == DONE)
		return 0;
	if (o->state[at] == OPEN)
		return error_set(err, ERROR_INPUT,
				 "services.%s: needs itself, by way of what it needs; remove one depends_on",
				 text_show(&name, sv_of(s->name)));
	o->state[at] = OPEN;
	for (i = 0; i < s->needs.n; i++)
		if (visit_name(o, s->needs.v[i].service, err) < 0)
			return -1;
	if (s->network_mode == COMPOSE_NET_SERVICE && visit_name(o, s->network_service, err) < 0)
		return -1;
	o->state[at] = DONE;
	o->order[o->n++] = at;
	return 0;
}

int compose_order(const struct compose *c, uint32_t *order, struct error *err)
{
	struct ordering o = {.c = c};
	uint32_t i;

	if (c->n_services > COMPOSE_SERVICES_MAX)
		return error_set(err, ERROR_INPUT, "too many services");
	for (i = 0; i < c->n_services; i++)
		if (visit(&o, i, err) < 0)
			return -1;
	if (order)
		memcpy(order, o.order, o.n * sizeof(*order));
	return 0;
}

struct planner {
	const struct compose *c;
	const char *file;
	const char *machine;
	struct arena *arena;
	struct error *err;
};

static int refuse(struct planner *p, const struct compose_service *s, const char *key, const char *what)
{
	struct text_shown file, name;

	return error_set(p->err, ERROR_INPUT, "%s:%u: services.%s.%s: %s", text_show(&file, sv_of(p->file)),
			 (unsigned)s->line, text_show(&name, sv_of(s->name)), key, what);
}

/* Who names no network is on `default`, which nobody means as a wall. */
static bool is_on_default(const struct compose_service *s)
{
	uint32_t i;

	for (i = 0; i < s->networks.n; i++)
		if (strcmp(s->networks.v[i].network, "default") == 0)
			return true;
	return false;
}

static bool share_a_network(const struct compose_service *a, const struct compose_service *b)
{
	uint32_t i, j;

	if (is_on_default(a) || is_on_default(b))
		return true;
	for (i = 0; i < a->networks.n; i++)
		for (j = 0; j < b->networks.n; j++)
			if (strcmp(a->networks.v[i].network, b->networks.v[j].network) == 0)
				return true;
	return false;
}

static bool serve_one_port(const struct compose_service *a, const struct compose_service *b)
{
	uint32_t i, j;

	for (i = 0; i < a->ports.n; i++)
		for (j = 0; j < b->ports.n; j++)
			if (strcmp(a->ports.v[i], b->ports.v[j]) == 0)
				return true;
	return false;
}

static int check_pair(struct planner *p, const struct compose_service *a, const struct compose_service *b)
{
	const struct compose_service *x = compose_network(p->c, a), *y = compose_network(p->c, b);

	if (x != y && (x->network_mode == COMPOSE_NET_NONE || y->network_mode == COMPOSE_NET_NONE))
		return 0;
	if (x != y && !share_a_network(x, y))
		return refuse(p, a, "networks", "networks that keep services apart cannot be had; put them on one");
	if (serve_one_port(a, b))
		return refuse(p, a, "ports",
			      "another service serves the same port, and services share one loopback network; give it "
			      "another");
	return 0;
}

static int check_needs(struct planner *p, const struct compose_service *s)
{
	uint32_t i;

	for (i = 0; i < s->needs.n; i++) {
		const struct compose_service *other = &p->c->services[compose_find(p->c, s->needs.v[i].service)];

		if (s->needs.v[i].condition != COMPOSE_STARTED && other == &p->c->services[p->c->main])
			return refuse(p, s, "depends_on",
				      "waits until the agent's own service is healthy or has ended, and it starts when "
				      "all others have; service_started is all that can be had of it");
		if (s->needs.v[i].condition == COMPOSE_HEALTHY && other->health.test.n == 0)
			return refuse(p, s, "depends_on",
				      "waits for the health of a service that has no healthcheck here, and an image's "
				      "own is not known; write its healthcheck with a test");
	}
	return 0;
}

static int check(struct planner *p)
{
	uint32_t i, j;

	for (i = 0; i < p->c->n_services; i++) {
		const struct compose_service *s = &p->c->services[i];

		if (s->platform[0] &&
		    !(strncmp(s->platform + 6, p->machine, strlen(p->machine)) == 0 &&
		      (!s->platform[6 + strlen(p->machine)] || s->platform[6 + strlen(p->machine)] == '/')))
			return refuse(p, s, "platform", "is not this machine's");
		if (check_needs(p, s) < 0)
			return -1;
		for (j = 0; j < p->c->n_services; j++)
			if (i != j && check_pair(p, s, &p->c->services[j]) < 0)
				return -1;
	}
	return 0;
}

static uint64_t or_else(uint64_t v, uint64_t otherwise)
{
	return v ? v : otherwise;
}

/* Docker's own where the file says nothing. */
static int plan_check(struct planner *p, const struct compose_health *h, struct compose_check *to)
{
	const char **argv;
	uint32_t i;

	*to = (struct compose_check){.interval = or_else(h->interval, 30000),
				     .timeout = or_else(h->timeout, 30000),
				     .start_period = h->start_period,
				     .start_interval = or_else(h->start_interval, 5000),
				     .retries = (uint32_t)or_else(h->retries, 3)};
	if (h->test.n == 0)
		return 0;
	argv = arena_array(p->arena, h->test.n + 3, sizeof(*argv));
	if (!argv)
		return error_set(p->err, ERROR_SYSTEM, "out of memory");
	if (h->shell) {
		argv[0] = "/bin/sh";
		argv[1] = "-c";
	}
	for (i = 0; i < h->test.n; i++)
		argv[(h->shell ? 2 : 0) + i] = h->test.v[i];
	memcpy(&to->argv, &argv, sizeof(argv));
	return 0;
}

static int plan_waits(struct planner *p, const uint32_t *step_of, struct compose_step *step)
{
	const struct compose_needs *needs = &step->service->needs;
	struct compose_wait *waits = arena_array(p->arena, needs->n + 1, sizeof(*waits));
	uint32_t i;

	if (!waits)
		return error_set(p->err, ERROR_SYSTEM, "out of memory");
	for (i = 0; i < needs->n; i++)
		waits[i] = (struct compose_wait){.step = step_of[compose_find(p->c, needs->v[i].service)],
						 .condition = (enum compose_condition)needs->v[i].condition};
	step->waits = waits;
	step->n_waits = needs->n;
	return 0;
}

struct names {
	struct compose_pair *v;
	uint32_t n, max;
};

/* The first who has a name keeps it. */
static void add_name(struct names *names, const char *name, const char *address)
{
	uint32_t i;

	if (strcmp(name, "localhost") == 0)
		return;
	for (i = 0; i < names->n; i++)
		if (strcmp(names->v[i].name, name) == 0)
			return;
	if (name[0] && names->n < names->max)
		names->v[names->n++] = (struct compose_pair){name, address};
}

/* Of those in one network. Services' own names go before all others, so that none can be taken for another. */
static int plan_names(struct planner *p, const struct compose_plan *plan, uint32_t net, struct compose_pairs *ret)
{
	struct names names = {.max = COMPOSE_SERVICES_MAX * COMPOSE_LIST_MAX};
	uint32_t i, j, k;

	names.v = arena_array(p->arena, names.max, sizeof(*names.v));
	if (!names.v)
		return error_set(p->err, ERROR_SYSTEM, "out of memory");
	for (i = 0; i < plan->n; i++)
		if (plan->steps[i].net == net)
			add_name(&names, plan->steps[i].service->name, plan->steps[i].address);
	for (i = 0; i < plan->n; i++) {
		const struct compose_service *s = plan->steps[i].service;

		if (plan->steps[i].net != net)
			continue;
		add_name(&names, s->hostname, plan->steps[i].address);
		for (j = 0; j < s->networks.n; j++)
			for (k = 0; k < s->networks.v[j].aliases.n; k++)
				add_name(&names, s->networks.v[j].aliases.v[k], plan->steps[i].address);
		for (j = 0; j < s->hosts.n; j++)
			add_name(&names, s->hosts.v[j].name, s->hosts.v[j].value);
	}
	*ret = (struct compose_pairs){names.v, names.n};
	return 0;
}

static const char *hosts_text(struct planner *p, const struct compose_pairs *names)
{
	AUTO_BUF out = {0};
	uint32_t i;

	buf_init(&out, 8 << 20);
	(void)buf_str(&out, "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n");
	for (i = 0; i < names->n; i++)
		(void)buf_printf(&out, "%s %s\n", names->v[i].value, names->v[i].name);
	return buf_failed(&out) ? NULL : arena_str(p->arena, buf_view(&out));
}

static int plan_hosts(struct planner *p, struct compose_plan *plan)
{
	struct compose_pairs own;
	uint32_t i, j;

	if (plan_names(p, plan, 0, &plan->names) < 0)
		return -1;
	for (i = 0; i < plan->n; i++) {
		struct compose_step *step = &plan->steps[i];

		for (j = 0; j < i && plan->steps[j].net != step->net; j++)
			;
		if (j < i) {
			step->hosts = plan->steps[j].hosts;
			continue;
		}
		if (step->net && plan_names(p, plan, step->net, &own) < 0)
			return -1;
		step->hosts = hosts_text(p, step->net ? &own : &plan->names);
		if (!step->hosts)
			return error_set(p->err, ERROR_SYSTEM, "out of memory");
	}
	return 0;
}

bool compose_is_internal(const struct compose *c, const struct compose_service *s)
{
	uint32_t i, k;

	s = compose_network(c, s);
	for (i = 0; i < s->networks.n; i++) {
		for (k = 0; k < c->internal.n && strcmp(c->internal.v[k], s->networks.v[i].network) != 0; k++)
			;
		if (k == c->internal.n)
			return false;
	}
	return true;
}

static bool is_closed(const struct compose *c, const struct compose_plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->n; i++)
		if (plan->steps[i].net == 0 && !compose_is_internal(c, plan->steps[i].service))
			return false;
	return true;
}

int compose_plan(const struct compose *c, const char *file, const char *machine, struct arena *a,
		 struct compose_plan *ret, struct error *err)
{
	struct planner p = {.c = c, .file = file, .machine = machine, .arena = a, .err = err};
	uint32_t order[COMPOSE_SERVICES_MAX], step_of[COMPOSE_SERVICES_MAX] = {0}, i, owner;
	struct compose_plan plan = {.n = c->n_services};

	if (compose_order(c, order, err) < 0 || check(&p) < 0)
		return -1;
	plan.steps = arena_array(a, plan.n, sizeof(*plan.steps));
	if (!plan.steps)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	for (i = 0; i < plan.n; i++)
		step_of[order[i]] = i;
	for (i = 0; i < plan.n; i++) {
		struct compose_step *step = &plan.steps[i];

		step->service = &c->services[order[i]];
		owner = step_of[compose_network(c, step->service) - c->services] + 1;
		step->net = compose_network(c, step->service)->network_mode == COMPOSE_NET_NONE ? owner : 0;
		(void)snprintf(step->address, sizeof(step->address), "127.77.0.%u", (unsigned)owner);
		if (plan_waits(&p, step_of, step) < 0 || plan_check(&p, &step->service->health, &step->check) < 0)
			return -1;
	}
	plan.main = step_of[c->main];
	plan.closed = is_closed(c, &plan);
	if (plan_hosts(&p, &plan) < 0)
		return -1;
	*ret = plan;
	return 0;
}
