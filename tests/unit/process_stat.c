#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sys/process_stat.h"

static void a_process_is_known_by_its_parent_and_start_whatever_its_name(void)
{
	struct sys_process_stat before, now;

	CHECK(sys_process_stat(getpid(), &before) && before.parent == getppid() && before.session == getsid(0) &&
	      before.start && !before.dead);
	CHECK(prctl(PR_SET_NAME, "x) Z 1 1 (", 0, 0, 0) == 0);
	CHECK(sys_process_stat(getpid(), &now) && now.parent == before.parent && now.start == before.start &&
	      !now.dead);
}

static void what_it_ignores_is_told(void)
{
	struct sys_process_stat before, now;

	CHECK(signal(SIGTSTP, SIG_DFL) != SIG_ERR && sys_process_stat(getpid(), &before) &&
	      signal(SIGTSTP, SIG_IGN) != SIG_ERR && sys_process_stat(getpid(), &now));
	CHECK((before.ignored ^ now.ignored) == UINT64_C(1) << (SIGTSTP - 1) && now.ignored > before.ignored);
	CHECK(signal(SIGTSTP, SIG_DFL) != SIG_ERR);
}

static void one_that_nobody_waited_for_is_dead_and_then_gone(void)
{
	struct sys_process_stat is = {0};
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	CHECK(sys_process_stat(pid, &is) && is.dead && is.parent == getpid());
	CHECK(waitpid(pid, NULL, 0) == pid && !sys_process_stat(pid, &is));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_process_is_known_by_its_parent_and_start_whatever_its_name),
		CASE(what_it_ignores_is_told),
		CASE(one_that_nobody_waited_for_is_dead_and_then_gone),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
