/* Wall clock and CPU: staying longer than the policy's second, and using more than its one CPU. */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "attack.h"

static int overstay(const struct scene *s, const struct attack *a)
{
	sigset_t all;

	(void)s;
	(void)sigfillset(&all);
	if (a->num)
		(void)sigprocmask(SIG_BLOCK, &all, NULL);
	struct timespec left = {2, 500000000};
	while (nanosleep(&left, &left) < 0)
		;
	return won("%s: 2.5 seconds went by", a->name);
}

static double clock_of(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void burn(double until)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (clock_of(CLOCK_MONOTONIC) < until)
		;
	/* Up to 250 hundredths of a second fit into an exit status. */
	_exit((int)(clock_of(CLOCK_PROCESS_CPUTIME_ID) * 100));
}

static double two_at_once(void)
{
	double used = 0, until = clock_of(CLOCK_MONOTONIC) + 1;
	int status;

	for (int i = 0; i < 2; i++) {
		if (fork() == 0)
			burn(until);
	}
	while (wait(&status) > 0)
		used += WIFEXITED(status) ? WEXITSTATUS(status) / 100.0 : 0;
	return used;
}

static int two_cpus(const struct scene *s, const struct attack *a)
{
	cpu_set_t set;
	double used = 0;

	if (s->control && sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2)
		return untried("this machine has one CPU");
	/* A busy machine may not have two to give at the first try. */
	for (int i = 0; i < (s->control ? 5 : 2) && used <= 1.3; i++)
		used = two_at_once();
	if (s->control && used <= 1.3)
		return untried("this machine is too busy: %.2f CPUs were all", used);
	return used > 1.3 ? won("%s: %.2f CPUs", a->name, used) : refused("%.2f CPUs were all", used);
}

static const struct attack rows[] = {
	{"timeout", "cannot run longer than the policy's timeout", overstay, .stage = STAGE_TIMEOUT},
	{"timeout-blocked", "cannot do so by blocking every signal", overstay, .stage = STAGE_TIMEOUT, .num = 1},
	{"cpus", "cannot use more CPUs than the policy allows", two_cpus, .stage = STAGE_LIMITS},
};
ATTACKS("resource", rows);
