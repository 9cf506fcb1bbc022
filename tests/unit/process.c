/* Waiting for children: nobody who stops one, or gives it something to wait for, holds us up. */
#include "sys/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* SOON: it is not to end by itself. NEVER: the test would not end. */
enum { SOON_MS = 50, NEVER_MS = 100000000 };

static void one_that_ends_by_itself_tells_its_status(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	CHECK(sys_wait_for(pid, NEVER_MS, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	CHECK(waitpid(pid, &status, 0) < 0);
}

static void is_killed(pid_t pid, int ms)
{
	int status = 0;

	CHECK(pid > 0 && sys_wait_for(pid, ms, &status));
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void one_that_is_stopped_is_killed_and_not_waited_for(void)
{
	pid_t pid = fork();

	while (pid == 0)
		(void)raise(SIGSTOP);
	is_killed(pid, NEVER_MS);
}

static void one_that_takes_too_long_is_killed(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)signal(SIGTERM, SIG_IGN);
		for (;;)
			(void)pause();
	}
	is_killed(pid, SOON_MS);
}

static void one_that_opens_a_fifo_is_killed(void)
{
	char folder[] = "/tmp/cordon-process.XXXXXX", name[64];
	pid_t pid;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(name, sizeof(name), "%s/fifo", folder);
	CHECK(mkfifo(name, 0600) == 0);
	pid = fork();
	if (pid == 0)
		_exit(open(name, O_RDONLY | O_CLOEXEC) >= 0);
	is_killed(pid, SOON_MS);
	CHECK(unlink(name) == 0 && rmdir(folder) == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(one_that_ends_by_itself_tells_its_status),
		CASE(one_that_is_stopped_is_killed_and_not_waited_for),
		CASE(one_that_takes_too_long_is_killed),
		CASE(one_that_opens_a_fifo_is_killed),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
