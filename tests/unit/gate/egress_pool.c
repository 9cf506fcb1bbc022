/* Who waits for a connection, and how long: the pool alone, in a loop whose time the test makes. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "check.h"
#include "gate/egress/pool.h"

enum { TURNS_MAX = 50 /* of the loop, until nothing is left to do */ };

static struct {
	int64_t now;
	struct loop_timer *timers[16];
	struct loop_task *tasks[16];
	struct loop_task *running[16];
} fake;

int64_t loop_now(const struct loop *loop)
{
	(void)loop;
	return fake.now;
}

void loop_timer_cancel(struct loop_timer *timer)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(fake.timers); i++)
		if (fake.timers[i] == timer)
			fake.timers[i] = NULL;
	timer->loop = NULL;
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t delay, loop_fn *fn, void *arg)
{
	size_t i;

	loop_timer_cancel(timer);
	timer->loop = loop;
	timer->fn = fn;
	timer->arg = arg;
	timer->due = fake.now + (delay > 0 ? delay : 0);
	for (i = 0; fake.timers[i]; i++)
		if (i + 1 == ARRAY_LEN(fake.timers))
			abort();
	fake.timers[i] = timer;
}

void loop_task_cancel(struct loop_task *task)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(fake.tasks); i++) {
		if (fake.tasks[i] == task)
			fake.tasks[i] = NULL;
		if (fake.running[i] == task)
			fake.running[i] = NULL;
	}
	task->fn = NULL;
}

void loop_task_post(struct loop *loop, struct loop_task *task, loop_fn *fn, void *arg)
{
	size_t i;

	(void)loop;
	task->arg = arg;
	if (task->fn)
		return;
	task->fn = fn;
	for (i = 0; fake.tasks[i]; i++)
		if (i + 1 == ARRAY_LEN(fake.tasks))
			abort();
	fake.tasks[i] = task;
}

/* One iteration. False: there was nothing to do. */
static bool turn(void)
{
	struct loop_timer *timer;
	struct loop_task *task;
	bool any = false;
	loop_fn *fn;
	size_t i;

	for (i = 0; i < ARRAY_LEN(fake.timers); i++) {
		timer = fake.timers[i];
		if (!timer || timer->due > fake.now)
			continue;
		any = true;
		loop_timer_cancel(timer);
		timer->fn(timer->arg);
	}
	memcpy(fake.running, fake.tasks, sizeof(fake.tasks));
	memset(fake.tasks, 0, sizeof(fake.tasks));
	for (i = 0; i < ARRAY_LEN(fake.running); i++) {
		task = fake.running[i];
		if (!task)
			continue;
		any = true;
		fake.running[i] = NULL;
		fn = task->fn;
		task->fn = NULL;
		fn(task->arg);
	}
	return any;
}

/* The time comes, and all that is to be done then. */
static void come(int64_t now)
{
	int n = 0;

	fake.now = now;
	while (turn() && n < TURNS_MAX)
		n++;
	CHECK(n < TURNS_MAX);
}

void upstream_dial(struct upstream *u, struct sv host, uint16_t port)
{
	(void)host;
	(void)port;
	u->state = UPSTREAM_DIALLING;
}

void upstream_kill(struct upstream *u)
{
	site_remove(u);
	free(u);
}

bool upstream_is_free(const struct upstream *u)
{
	return u->state == UPSTREAM_READY && !u->used;
}

bool upstream_is_idle(const struct upstream *u)
{
	return upstream_is_free(u);
}

struct waiter {
	struct claim claim; /* first */
	int told;           /* 0: nothing yet; else why it failed */
	bool ready;
};

static enum gate_failure check(struct claim *c, const struct address *a, bool fixed)
{
	(void)c;
	(void)a;
	(void)fixed;
	return GATE_FAILURE_NONE;
}

static void ready(struct claim *c, struct upstream *u)
{
	((struct waiter *)c)->ready = true;
	u->used = true;
}

static void failed(struct claim *c, enum gate_failure why)
{
	((struct waiter *)c)->told = (int)why;
}

static const struct claim_events events = {check, ready, failed};

static struct egress egress;
static struct waiter waiters[POOL_MAX + 16];

static struct pool *start(void)
{
	struct pool *p;

	memset(&fake, 0, sizeof(fake));
	memset(waiters, 0, sizeof(waiters));
	egress.loop = (struct loop *)(void *)&fake;
	fake.now = 1000;
	p = pool_new(&egress);
	CHECK(p);
	return p;
}

/* n requests to the host, as waiters from `first` on. */
static void claim(struct pool *p, const char *host, bool tls, unsigned first, unsigned n)
{
	const struct site_key key = {
		.tls = tls, .port = tls ? 443 : 80, .host = sv_of(host), .credential = sv_n("", 0)};
	unsigned i;

	for (i = first; i < first + n; i++) {
		waiters[i].claim.events = &events;
		CHECK(pool_claim(p, &key, &waiters[i].claim) == 0);
	}
	come(fake.now);
}

static unsigned armed(void)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(fake.timers); i++)
		n += fake.timers[i] != NULL;
	return n;
}

static unsigned told(unsigned first, unsigned n)
{
	unsigned i, count = 0;

	for (i = first; i < first + n; i++) {
		CHECK(!waiters[i].told || waiters[i].told == GATE_FAILURE_CROWDED);
		count += waiters[i].told != 0;
	}
	return count;
}

static void who_waits_long_where_there_is_room_costs_nothing(void)
{
	struct pool *p = start();
	int i;

	if (!p)
		return;
	/* what the server speaks is not known: some are dialled, the others wait to see */
	claim(p, "slow.test", true, 0, 7);
	CHECK(waiters[3].claim.own && !waiters[4].claim.own && armed() == 0);
	for (i = 1; i < 20; i++) {
		come(1000 + i * (POOL_WAIT / 4));
		CHECK(armed() == 0 && told(0, 7) == 0);
	}
	/* the first is there, and speaks what many share */
	site_learn(waiters[0].claim.site, true);
	waiters[0].claim.own->state = UPSTREAM_READY;
	site_changed(waiters[0].claim.site);
	come(fake.now);
	CHECK(told(0, 7) == 0 && armed() == 0);
	pool_free(p);
}

static void who_waits_at_a_full_site_is_told(void)
{
	struct pool *p = start();

	if (!p)
		return;
	claim(p, "plain.test", false, 0, POOL_SITE_MAX);
	CHECK(waiters[POOL_SITE_MAX - 1].claim.own && armed() == 0);
	come(1500);
	claim(p, "plain.test", false, POOL_SITE_MAX, 1);
	come(2500);
	claim(p, "plain.test", false, POOL_SITE_MAX + 1, 1);
	come(1499 + POOL_WAIT);
	CHECK(told(0, POOL_SITE_MAX + 2) == 0 && armed() == 1);
	come(1500 + POOL_WAIT);
	CHECK(waiters[POOL_SITE_MAX].told && told(0, POOL_SITE_MAX + 2) == 1);
	come(2500 + POOL_WAIT);
	CHECK(waiters[POOL_SITE_MAX + 1].told && told(0, POOL_SITE_MAX + 2) == 2 && armed() == 0);
	pool_free(p);
}

static void who_waits_while_others_fill_the_pool_is_told(void)
{
	char host[32];
	struct pool *p = start();
	unsigned n;

	if (!p)
		return;
	claim(p, "slow.test", true, 0, 5);
	come(2000);
	for (n = 5; n - 1 < POOL_MAX; n += 511) {
		(void)snprintf(host, sizeof(host), "h%u.test", n);
		claim(p, host, false, n, POOL_MAX + 1 - n < 511 ? POOL_MAX + 1 - n : 511);
	}
	CHECK(armed() == 1 && told(0, POOL_MAX + 1) == 0);
	come(999 + POOL_WAIT);
	CHECK(told(0, POOL_MAX + 1) == 0);
	come(1000 + POOL_WAIT);
	CHECK(waiters[4].told && told(0, POOL_MAX + 1) == 1 && armed() == 0);
	pool_free(p);
}

static void nobody_is_told_once_there_is_room_again(void)
{
	struct pool *p = start();

	if (!p)
		return;
	claim(p, "plain.test", false, 0, POOL_SITE_MAX + 1);
	CHECK(armed() == 1);
	come(5000);
	upstream_kill(waiters[0].claim.own);
	come(5000);
	/* whose connection went is the first to get the place */
	CHECK(waiters[0].claim.own && !waiters[POOL_SITE_MAX].claim.own && armed() == 1);
	pool_unclaim(&waiters[0].claim);
	upstream_kill(waiters[1].claim.own);
	pool_unclaim(&waiters[1].claim);
	come(5000);
	CHECK(waiters[POOL_SITE_MAX].claim.own);
	come(2000 + POOL_WAIT);
	CHECK(told(0, POOL_SITE_MAX + 1) == 0 && armed() == 0);
	pool_free(p);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(who_waits_long_where_there_is_room_costs_nothing),
		CASE(who_waits_at_a_full_site_is_told),
		CASE(who_waits_while_others_fill_the_pool_is_told),
		CASE(nobody_is_told_once_there_is_room_again),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
