#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"

enum { OUT_OF_THE_WAY = SPAWN_FIRST_FD + SPAWN_MAX_FDS + 2 };

static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Every fd first out of the way of the places, then into its own. The program itself stays open above them, and closes at exec. */
static int place_fds(int *program, int *report, const int *fds, size_t n)
{
	int moved[SPAWN_MAX_FDS], null = open("/dev/null", O_RDWR), keep;
	size_t i;

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		moved[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
		if (fds[i] >= 0 && moved[i] < 0)
			return -errno;
	}
	*program = fcntl(*program, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	*report = fcntl(*report, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	if (*program < 0 || *report < 0)
		return -errno;
	for (i = 0; i < SPAWN_MAX_FDS; i++) {
		keep = SPAWN_FIRST_FD + (int)i;
		if (i >= n || moved[i] < 0)
			(void)close(keep);
		else if (dup2(moved[i], keep) < 0)
			return -errno;
	}
	return 0;
}

static void become(int program, int report, char *const *argv, char *const *env, const int *fds, size_t n, pid_t parent) __attribute__((noreturn));
static void become(int program, int report, char *const *argv, char *const *env, const int *fds, size_t n, pid_t parent)
{
	int code;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	reset_signals();
	code = -place_fds(&program, &report, fds, n);
	if (code == 0) {
		/* what we did not name closes at exec, our own copies among it */
		(void)syscall(SYS_close_range, SPAWN_FIRST_FD + SPAWN_MAX_FDS, ~0U, CLOSE_RANGE_CLOEXEC);
		(void)syscall(SYS_execveat, program, "", argv, env, AT_EMPTY_PATH);
		code = errno;
	}
	(void)!write(report, &code, sizeof(code));
	_exit(127);
}

pid_t sys_spawn(int program, char *const *argv, char *const *env, const int *fds, size_t n)
{
	pid_t parent = getpid(), pid;
	int report[2], code = 0;
	ssize_t got;

	if (n > SPAWN_MAX_FDS)
		return -EINVAL;
	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become(program, report[1], argv, env, fds, n, parent);
	(void)close(report[1]);
	do
		got = pid > 0 ? read(report[0], &code, sizeof(code)) : 0;
	while (got < 0 && errno == EINTR);
	if (got != sizeof(code))
		code = 0; /* closed by exec: it runs */
	(void)close(report[0]);
	if (pid > 0 && code) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return -code;
	}
	return pid < 0 ? -errno : pid;
}
