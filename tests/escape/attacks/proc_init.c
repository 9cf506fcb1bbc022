/* PID 1 of the sandbox: it holds what the workload must not get, and the workload runs as the same user. Nothing is
 * sent or written. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "attack.h"

static int ask(const struct scene *s, const struct attack *a)
{
	return judge(s, kill(1, 0), a->name);
}

static int seize(const struct scene *s, const struct attack *a)
{
	long rc = ptrace(PTRACE_SEIZE, 1, NULL, NULL);

	if (rc == 0)
		ptrace(PTRACE_DETACH, 1, NULL, NULL);
	return judge(s, rc, a->name);
}

static int open_file(const struct scene *s, const struct attack *a)
{
	return judge_open(s, a->text, (int)a->num);
}

static int follow(const struct scene *s, const struct attack *a)
{
	char target[256];

	return judge(s, readlink(a->text, target, sizeof(target)), a->text);
}

static int limit(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_prlimit64, 1, 7, NULL, NULL), a->name);
}

static int take_fd(const struct scene *s, const struct attack *a)
{
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

	if (pidfd < 0)
		return lost(s, errno, "pidfd_open of PID 1");
	return judge(s, syscall(SYS_pidfd_getfd, pidfd, 0, 0), a->name);
}

static const struct attack rows[] = {
	{"init-signal", "cannot signal PID 1", ask, CONTROL_ROOT},
	{"init-ptrace", "cannot trace PID 1", seize, CONTROL_ROOT},
	{"init-environ", "cannot read the environment of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/environ"},
	{"init-mem", "cannot open the memory of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/mem", .num = O_RDWR},
	{"init-maps", "cannot read the memory map of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/maps"},
	{"init-auxv", "cannot read the auxiliary vector of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/auxv"},
	{"init-fds", "cannot list the open files of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/fd"},
	{"init-fd", "cannot open stdin of PID 1", follow, CONTROL_ROOT, .text = "/proc/1/fd/0"},
	{"init-limits", "cannot read limits of PID 1 with prlimit", limit, CONTROL_ROOT},
	{"init-pidfd-getfd", "cannot take an open file of PID 1", take_fd, CONTROL_ROOT},
};
ATTACKS("process", rows);
