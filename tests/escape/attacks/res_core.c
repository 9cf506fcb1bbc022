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

/* With 0 the kernel still starts the program that it pipes cores to, as root and outside; with 1 it does not. */
static int unlimit(const struct scene *s, const struct attack *a)
{
	const struct rlimit none = {0, 0};
	struct rlimit limit = {0};

	(void)getrlimit(RLIMIT_CORE, &limit);
	if (limit.rlim_max == 0)
		return untried("the limit is 0 for this user");
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prlimit(0, RLIMIT_CORE, &none, &limit);
	(void)getrlimit(RLIMIT_CORE, &limit);
	(void)s;
	return limit.rlim_cur != 1
		       ? won("%s: cores are piped, the limit is %llu", a->name, (unsigned long long)limit.rlim_cur)
		       : refused("the limit stays 1");
}

static const struct attack rows[] = {
	{"core-dump", "cannot make the kernel write a core dump", dump},
	{"core-pipe", "cannot make the kernel start its program for core dumps", unlimit},
};
ATTACKS("resource", rows);
