#include "sys/probe_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/process.h"

static int write_file(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write_all(fd, text, strlen(text));
}

/* Our own ids as 0, which everybody may do for themselves once setgroups is given up. */
static int map_ids(uid_t uid, gid_t gid)
{
	char line[64];
	int r = write_file("/proc/self/setgroups", "deny");

	if (r < 0 && r != -ENOENT)
		return r;
	(void)snprintf(line, sizeof(line), "0 %u 1", uid);
	r = write_file("/proc/self/uid_map", line);
	if (r < 0)
		return r;
	(void)snprintf(line, sizeof(line), "0 %u 1", gid);
	return write_file("/proc/self/gid_map", line);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? -ENOSYS : -ECHILD;
}

/* The child's answer, or -ETIMEDOUT. An end without an answer is left to wait_for(). */
static int read_answer(int fd, int *ret)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do
		r = poll(&p, 1, PROBE_TIMEOUT_MS);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (r == 0)
		return -ETIMEDOUT;
	return read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret) ? 0 : -ENODATA;
}

int probe_run(uint64_t namespaces, int (*fn)(const void *arg), const void *arg)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int ends[2], answer = 0, r, died;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = sys_fork_into(namespaces ? namespaces | CLONE_NEWUSER : 0, -1, NULL, NULL);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		answer = namespaces ? map_ids(uid, gid) : 0;
		if (answer == 0)
			answer = fn(arg);
		_exit(write_all(ends[1], &answer, sizeof(answer)) < 0);
	}
	(void)close(ends[1]);
	r = pid < 0 ? pid : read_answer(ends[0], &answer);
	(void)close(ends[0]);
	if (pid < 0)
		return r;
	(void)kill(pid, SIGKILL);
	died = wait_for(pid);
	return r == -ENODATA ? died : r < 0 ? r : answer;
}
