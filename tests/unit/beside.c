#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sys/beside.h"

static int stop_itself(void *arg)
{
	*(int *)arg = 1;
	(void)kill(getpid(), SIGSTOP);
	*(int *)arg = 2;
	return 3;
}

static void one_that_is_stopped_is_killed_and_not_waited_for(void)
{
	int seen = 0, status = 0;
	pid_t pid = sys_spawn_shared(stop_itself, &seen, 0);

	CHECK(pid > 0 && seen == 1);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static int tell_and_end(void *arg)
{
	(void)close(*(int *)arg);
	*(int *)arg = -EPROTO;
	return 3;
}

static void memory_is_shared_and_descriptors_are_not(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), told = fd, status = 0;
	pid_t pid = sys_spawn_shared(tell_and_end, &told, 0);

	CHECK(pid > 0 && told == -EPROTO);
	CHECK(fcntl(fd, F_GETFD) >= 0);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
	(void)close(fd);
}

static int become_a_sleeper(void *arg)
{
	char *const argv[] = {(char *)(uintptr_t) "sleep", (char *)(uintptr_t) "600", NULL};
	char *const env[] = {NULL};

	(void)execve("/bin/sleep", argv, env);
	*(int *)arg = 1;
	return 127;
}

static void one_that_execs_is_not_waited_for(void)
{
	int failed = 0, status = 0;
	pid_t pid = sys_spawn_shared(become_a_sleeper, &failed, 0);

	CHECK(pid > 0 && !failed);
	CHECK(waitpid(pid, &status, WNOHANG) == 0);
	(void)kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
}

static int kill_itself(void *arg)
{
	*(int *)arg = 1;
	(void)kill(getpid(), SIGKILL);
	return 0;
}

static void one_that_is_killed_is_not_waited_for(void)
{
	int seen = 0, status = 0;
	pid_t pid = sys_spawn_shared(kill_itself, &seen, 0);

	CHECK(pid > 0 && seen == 1 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

struct cpus {
	unsigned char mask[1024];
	long n;
};

static int tell_cpus(void *arg)
{
	struct cpus *c = arg;

	c->n = syscall(SYS_sched_getaffinity, 0, sizeof(c->mask), c->mask);
	return 0;
}

static bool child_has_our_cpus(void)
{
	struct cpus ours = {.n = 0}, its = {.n = 0};
	struct sys_beside b;

	(void)tell_cpus(&ours);
	if (sys_beside_start(&b, tell_cpus, &its) < 0)
		return false;
	sys_beside_wait(&b);
	return waitpid(b.pid, NULL, 0) == b.pid && ours.n > 0 && its.n == ours.n &&
	       memcmp(ours.mask, its.mask, sizeof(ours.mask)) == 0;
}

/* It starts on another CPU than ours, which must not be all that it has. */
static void a_child_may_run_on_every_cpu_of_its_parent(void)
{
	int i;

	for (i = 0; i < 50; i++)
		CHECK(child_has_our_cpus());
}

static void a_parent_with_one_cpu_has_children_too(void)
{
	struct cpus all = {.n = 0};

	(void)tell_cpus(&all);
	CHECK(sys_pin_cpus(1) == 0 && child_has_our_cpus());
	CHECK(syscall(SYS_sched_setaffinity, 0, all.n, all.mask) == 0);
}

int main(void)
{
	const struct check_case cases[] = {
		CASE(one_that_is_stopped_is_killed_and_not_waited_for),
		CASE(memory_is_shared_and_descriptors_are_not),
		CASE(one_that_execs_is_not_waited_for),
		CASE(one_that_is_killed_is_not_waited_for),
		CASE(a_child_may_run_on_every_cpu_of_its_parent),
		CASE(a_parent_with_one_cpu_has_children_too),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
