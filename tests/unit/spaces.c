#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "sandbox/native/spaces.h"

enum { TRIES = 30, MOMENTS = 300 };

/* The one who makes them has hardly begun. */
static _Noreturn void start_and_be_killed(void)
{
	struct spaces *s;

	(void)spaces_start(false, &s);
	(void)kill(getpid(), SIGKILL);
	_exit(1);
}

/* All that became our children end by themselves, within three seconds. */
static bool nobody_is_left(void)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	int i;

	for (i = 0; i < MOMENTS; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (errno == ECHILD)
			return true;
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

static void who_makes_namespaces_ends_with_whom_they_are_for(void)
{
	bool left = false;
	int i;

	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
	for (i = 0; i < TRIES && !left; i++) {
		pid_t pid = fork();

		if (pid == 0)
			start_and_be_killed();
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
		errno = 0;
		left = !nobody_is_left();
	}
	CHECK(!left);
}

int main(void)
{
	const struct check_case cases[] = {
		CASE(who_makes_namespaces_ends_with_whom_they_are_for),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
