#include "supervise/front.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOST = 125 };

static void end_as(int status) __attribute__((noreturn));
static void end_as(int status)
{
	sigset_t set;

	if (WIFSIGNALED(status)) {
		(void)signal(WTERMSIG(status), SIG_DFL);
		(void)sigemptyset(&set);
		(void)sigaddset(&set, WTERMSIG(status));
		(void)raise(WTERMSIG(status));
		(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Before it watches a sandbox the child stops by itself, as any program does: so do we. */
static void look_at(pid_t child)
{
	int status = 0;
	pid_t r;

	while ((r = waitpid(child, &status, WNOHANG | WUNTRACED)) > 0) {
		if (!WIFSTOPPED(status))
			end_as(status);
		(void)kill(getpid(), SIGSTOP);
		(void)kill(child, SIGCONT);
	}
	if (r < 0 && errno != EINTR)
		_exit(LOST);
}

/* What is typed goes to all of the job, the child too; but a terminal that is hung up tells the session's leader only, and a timer of ours is ours alone. */
static void pass_on(pid_t child, const siginfo_t *info)
{
	bool kernels = info->si_code == SI_KERNEL;

	switch (info->si_signo) {
	case SIGWINCH:
	case SIGTTIN:
	case SIGTTOU:
		return;
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
		if (kernels)
			return;
		break;
	case SIGHUP:
		if (kernels) {
			(void)sigqueue(child, SIGHUP, (union sigval){0}); /* not as from a person, who asks for the policy to be loaded again */
			return;
		}
		break;
	}
	if (kernels || info->si_pid != child)
		(void)kill(child, info->si_signo);
}

static void stand(pid_t child) __attribute__((noreturn));
static void stand(pid_t child)
{
	siginfo_t info;
	sigset_t all;

	(void)sigfillset(&all);
	for (;;) {
		look_at(child);
		if (sigwaitinfo(&all, &info) > 0 && info.si_signo != SIGCHLD)
			pass_on(child, &info);
	}
}

static bool has_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

int front_stand(pid_t *ret, struct error *err)
{
	pid_t front = getpid(), child;
	sigset_t all, before;

	*ret = 0;
	if (!has_terminal())
		return 0;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	(void)signal(SIGCHLD, SIG_DFL); /* who inherited that it is ignored would not be told */
	child = fork();
	if (child > 0)
		stand(child);
	if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != front))
		_exit(LOST);
	/* what is left to say when the shell has the terminal is said: nothing stops the supervisor */
	(void)sigaddset(&before, SIGTTOU);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	*ret = front;
	return child < 0 ? error_sys(err, errno, "fork") : 0;
}
