#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"
#include "sys/signals.h"

enum { OUT_OF_THE_WAY = SPAWN_FIRST_FD + SPAWN_MAX_FDS + 2, MOMENT_MS = 100 };

int sys_find_program(const char *name)
{
	static const char *const folders[] = {"", "../libexec/cordon/"};
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;
	size_t i;
	int fd;

	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	slash[1] = '\0';
	for (i = 0; i < ARRAY_LEN(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s%scordon-%s", self, folders[i], name);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

static void reset_signals(const sigset_t *blocked)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, blocked, NULL);
}

/* Every fd first out of the way of the places, then into its own. The program itself stays open above them, and closes
 * at exec. */
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
	if (*program < 0)
		return -errno;
	if (report)
		*report = fcntl(*report, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
	if (report && *report < 0)
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

static int take_place(int program, int *report, char *const *argv, char *const *env, const int *fds, size_t n)
{
	int r = place_fds(&program, report, fds, n);

	if (r < 0)
		return r;
	/* what we did not name closes at exec, our own copies among it */
	(void)syscall(SYS_close_range, SPAWN_FIRST_FD + SPAWN_MAX_FDS, ~0U, CLOSE_RANGE_CLOEXEC);
	(void)syscall(SYS_execveat, program, "", argv, env, AT_EMPTY_PATH);
	return -errno;
}

int sys_become(int program, char *const *argv, char *const *env, const int *fds, size_t n)
{
	sigset_t none;

	if (n > SPAWN_MAX_FDS)
		return -EINVAL;
	(void)sigemptyset(&none);
	reset_signals(&none);
	return take_place(program, NULL, argv, env, fds, n);
}

static void become(int program, int report, char *const *argv, char *const *env, const int *fds, size_t n, pid_t parent)
	__attribute__((noreturn));
static void become(int program, int report, char *const *argv, char *const *env, const int *fds, size_t n, pid_t parent)
{
	sigset_t sent;
	int code;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	/* what is sent to a shell's job is for the command and its supervisor, and so is what systemd or Slurm send to
	 * all processes of one */
	(void)setsid();
	sys_signals_sent(&sent);
	reset_signals(&sent);
	code = -take_place(program, &report, argv, env, fds, n);
	(void)!write(report, &code, sizeof(code));
	_exit(127);
}

/* Until there is something to read, or never will be. */
static void wait_for(int fd, pid_t pid)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	while ((r = poll(&p, 1, MOMENT_MS)) == 0 || (r < 0 && errno == EINTR))
		sys_continue_stopped(pid);
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
	if (pid > 0)
		wait_for(report[0], pid);
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
