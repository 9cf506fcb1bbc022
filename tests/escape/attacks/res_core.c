/* A core dump writes the memory of the dead to a place the sandbox does not choose. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "attack.h"

static int dump(const struct scene *s, const struct attack *a)
{
	struct rlimit limit;
	int status = 0;

	(void)getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_CORE, &limit);
	if (s->control && limit.rlim_max == 0)
		return untried("core dumps are off for this user");
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_DUMPABLE, 1);
		(void)signal(SIGQUIT, SIG_DFL);
		(void)raise(SIGQUIT);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WCOREDUMP(status) ? won("%s: a core was dumped", a->name)
							: refused("no core was dumped");
}

static const struct attack rows[] = {
	{"core-dump", "cannot make the kernel write a core dump", dump},
};
ATTACKS("resource", rows);
