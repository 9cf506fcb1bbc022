#include "task/compose_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/process.h"

bool compose_tool_find(const char *path_list, const char *name, char *path, size_t size)
{
	while (path_list && *path_list) {
		size_t n = strcspn(path_list, ":");

		if (*path_list == '/' && n < size &&
		    (size_t)snprintf(path, size, "%.*s/%s", (int)n, path_list, name) < size && access(path, X_OK) == 0)
			return true;
		path_list += n + (path_list[n] == ':');
	}
	return false;
}

/* In the child. Does not return. */
static void become(const struct compose_tool *t, int in, int out)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() == 1)
		_exit(125);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 || sys_close_from(3) < 0 || chdir(t->folder) < 0)
		_exit(125);
	(void)execve(t->program, t->argv, t->env);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Descriptors below 3 would be taken for another when they are put in their places. */
static int above_standard(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return up < 0 ? -errno : up;
}

/* Only the end is of interest: what a tool says when it gives up. */
static void keep_end(struct buf *tail, const char *p, size_t n)
{
	size_t keep = tail->max / 2;

	if (n > keep) {
		p += n - keep;
		n = keep;
	}
	if (tail->n + n > tail->max) {
		size_t drop = tail->n - keep;

		memmove(tail->p, tail->p + drop, keep);
		tail->n = keep;
	}
	(void)buf_add(tail, p, n);
}

/* Reads until the output ends, the process does, or the time is up. False: it is up. */
static bool follow(int pidfd, int out, int64_t until, struct buf *tail)
{
	struct pollfd fds[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = out, .events = POLLIN}};
	char bytes[8192];

	for (;;) {
		int64_t left = until - now_ms();
		ssize_t n;

		if (left <= 0)
			return false;
		if (poll(fds, 2, left > 1000 ? 1000 : (int)left) < 0 && errno != EINTR)
			return false;
		if (fds[1].fd >= 0 && fds[1].revents) {
			n = read(out, bytes, sizeof(bytes));
			if (n > 0)
				keep_end(tail, bytes, (size_t)n);
			else if (n == 0 || errno != EINTR)
				fds[1].fd = -1;
			continue;
		}
		/* What it left running may hold its output open: its own end is what counts. */
		if (fds[0].revents)
			return true;
	}
}

static int end(pid_t pid, bool in_time)
{
	int status;

	if (!in_time)
		(void)kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	(void)kill(-pid, SIGKILL); /* whatever is left of its session */
	if (!in_time)
		return COMPOSE_TOOL_TIME;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int compose_tool_run(const struct compose_tool *t, struct buf *tail)
{
	AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FD in = above_standard(t->in < 0 ? null : t->in);
	AUTO_FD out = -1;
	AUTO_FD read_end = -1;
	AUTO_FD pidfd = -1;
	int ends[2];
	pid_t pid;

	if (null < 0 || in < 0)
		return null < 0 ? -ENOENT : in;
	if (t->out < 0) {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		read_end = ends[0];
		out = above_standard(ends[1]);
		(void)close(ends[1]);
	} else {
		out = above_standard(t->out);
	}
	if (out < 0)
		return out;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(t, in, out);
	cleanup_fd(&out);
	out = -1;
	pidfd = sys_pidfd_open(pid);
	if (pidfd < 0) {
		(void)end(pid, false);
		return pidfd;
	}
	return end(pid, follow(pidfd, read_end, now_ms() + t->ms, tail));
}
