#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

int main(void)
{
	const struct check_case cases[] = {
		CASE(one_that_is_stopped_is_killed_and_not_waited_for),
		CASE(memory_is_shared_and_descriptors_are_not),
		CASE(one_that_execs_is_not_waited_for),
		CASE(one_that_is_killed_is_not_waited_for),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
