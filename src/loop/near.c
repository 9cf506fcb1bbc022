#include "loop/near.h"

static bool is_only(const cpu_set_t *set, int cpu)
{
	return CPU_ISSET((unsigned)cpu, set) && CPU_COUNT(set) == 1;
}

void near_init(struct near *n, struct loop *loop)
{
	*n = (struct near){.loop = loop, .cpu = -1};
}

static void go_anywhere(void *arg)
{
	struct near *n = arg;
	cpu_set_t now;

	if (n->cpu >= 0 && sched_getaffinity(0, sizeof(now), &now) == 0 && is_only(&now, n->cpu))
		(void)sched_setaffinity(0, sizeof(n->before), &n->before);
	n->cpu = -1;
}

void near_done(struct near *n)
{
	loop_timer_cancel(&n->timer);
	go_anywhere(n);
}

void near_part(struct near *n)
{
	n->not_before = loop_now(n->loop) + NEAR_PAUSE;
	if (n->cpu >= 0)
		near_done(n);
}

static bool stay(struct near *n, int cpu)
{
	cpu_set_t now, one;

	if (cpu < 0 || cpu >= NEAR_CPUS || sched_getaffinity(0, sizeof(now), &now) < 0)
		return false;
	if (n->cpu < 0 || !is_only(&now, n->cpu))
		n->before = now;
	if (!CPU_ISSET((unsigned)cpu, &n->before) || CPU_COUNT(&n->before) < 2)
		return false;
	CPU_ZERO(&one);
	CPU_SET((unsigned)cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

static void meet(struct near *n, int cpu)
{
	if (!stay(n, cpu)) {
		near_part(n);
		return;
	}
	n->cpu = cpu;
	loop_timer_set(n->loop, &n->timer, NEAR_MS, go_anywhere, n);
}

int near_lead(struct near *n)
{
	if (n->cpu < 0 && loop_now(n->loop) >= n->not_before)
		meet(n, sched_getcpu());
	return n->cpu;
}

void near_follow(struct near *n, int cpu)
{
	if (cpu >= 0 && cpu == n->cpu)
		loop_timer_set(n->loop, &n->timer, NEAR_MS, go_anywhere, n);
	else if (cpu >= 0 && (n->cpu >= 0 || loop_now(n->loop) >= n->not_before))
		meet(n, cpu);
	else if (cpu < 0 && n->cpu >= 0)
		near_done(n);
}
