/* Two processes that hand each other little things stay on one CPU, for a moment. Where there is only one CPU, nothing
 * changes. */
#include "check.h"

#include <sched.h>

#include "loop/near.h"

static cpu_set_t cpus(void)
{
	cpu_set_t set;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	return set;
}

static cpu_set_t only(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	return set;
}

static bool runs_on(const cpu_set_t *set)
{
	cpu_set_t now = cpus();

	return CPU_EQUAL(&now, set);
}

static int last_of(const cpu_set_t *set)
{
	int cpu = NEAR_CPUS - 1;

	while (cpu > 0 && !CPU_ISSET((unsigned)cpu, set))
		cpu--;
	return cpu;
}

/* Until the loop has seen that much time pass. */
static void pass(struct loop *loop, int ms)
{
	int64_t until = loop_now(loop) + ms;

	while (loop_now(loop) < until)
		CHECK(loop_step(loop, (int)(until - loop_now(loop))) == 0);
}

static void who_leads_stays_on_its_cpu_and_may_run_anywhere_a_moment_later(void)
{
	cpu_set_t all = cpus(), one;
	struct loop *loop = loop_new();
	struct near n;
	int64_t due;
	int cpu;

	near_init(&n, loop);
	cpu = near_lead(&n);
	CHECK((cpu >= 0) == (CPU_COUNT(&all) > 1));
	if (cpu >= 0) {
		one = only(cpu);
		CHECK(runs_on(&one) && sched_getcpu() == cpu);
		/* leading on does not make it longer */
		due = n.timer.due;
		pass(loop, 1);
		CHECK(n.cpu < 0 || (near_lead(&n) == cpu && n.timer.due == due));
	}
	pass(loop, NEAR_MS + 2);
	CHECK(runs_on(&all));
	near_done(&n);
	loop_free(loop);
}

static void who_follows_goes_there_and_may_run_anywhere_a_moment_later(void)
{
	cpu_set_t all = cpus(), one = only(last_of(&all));
	struct loop *loop = loop_new();
	struct near n;

	near_init(&n, loop);
	near_follow(&n, last_of(&all));
	CHECK(runs_on(&one)); /* where there is only one CPU, it is that */
	near_follow(&n, -1);
	CHECK(runs_on(&all));
	near_follow(&n, last_of(&all));
	pass(loop, NEAR_MS + 2);
	CHECK(runs_on(&all));
	near_follow(&n, NEAR_CPUS - 1); /* there is none */
	near_follow(&n, NEAR_CPUS);
	CHECK(runs_on(&all));
	near_done(&n);
	loop_free(loop);
}

static void who_has_more_to_do_parts_for_a_while(void)
{
	cpu_set_t all = cpus();
	struct loop *loop = loop_new();
	struct near n;

	near_init(&n, loop);
	(void)near_lead(&n);
	near_part(&n);
	CHECK(runs_on(&all));
	CHECK(near_lead(&n) == -1);
	pass(loop, NEAR_PAUSE + 2);
	CHECK((near_lead(&n) >= 0) == (CPU_COUNT(&all) > 1));
	near_done(&n);
	CHECK(runs_on(&all));
	loop_free(loop);
}

static void what_others_say_about_our_cpus_counts(void)
{
	cpu_set_t all = cpus(), other;
	struct loop *loop = loop_new();
	struct near n;
	int cpu;

	near_init(&n, loop);
	cpu = near_lead(&n);
	if (cpu >= 0) {
		other = all;
		CPU_CLR((unsigned)cpu, &other);
		CHECK(sched_setaffinity(0, sizeof(other), &other) == 0);
		near_done(&n);
		CHECK(runs_on(&other));
		/* bound to one by somebody else */
		other = only(sched_getcpu());
		CHECK(sched_setaffinity(0, sizeof(other), &other) == 0);
		CHECK(near_lead(&n) == -1);
		CHECK(runs_on(&other));
		CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
	}
	near_done(&n);
	loop_free(loop);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(who_leads_stays_on_its_cpu_and_may_run_anywhere_a_moment_later),
		CASE(who_follows_goes_there_and_may_run_anywhere_a_moment_later),
		CASE(who_has_more_to_do_parts_for_a_while),
		CASE(what_others_say_about_our_cpus_counts),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
