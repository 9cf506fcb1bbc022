/* A pidfd is a handle that survives; with pidfd_getfd it gives another process' open files. */
#include "attack.h"

static int open_pidfd(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_pidfd_open, fact_num(s, "victim"), 0), a->name);
}

static int take_fd(const struct scene *s, const struct attack *a)
{
	int pidfd = (int)syscall(SYS_pidfd_open, fact_num(s, "victim"), 0);

	if (pidfd < 0)
		return lost(s, errno, "pidfd_open");
	(void)a;
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, fact_num(s, "secret_fd"), 0);
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return judge_secret(s, fd, "pidfd_getfd");
}

static int open_its_fd(const struct scene *s, const struct attack *a)
{
	char path[64];

	(void)a;
	(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", fact_num(s, "victim"), fact_num(s, "secret_fd"));
	return judge_secret(s, open(path, O_RDONLY | O_CLOEXEC), path);
}

static int compare(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_kcmp, getpid(), fact_num(s, "victim"), 1 /* KCMP_VM */, 0, 0), a->name);
}

static int compare_self(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0), a->name);
}

static const struct attack rows[] = {
	{"pidfd-open", "cannot open a pidfd of a host process", open_pidfd},
	{"pidfd-getfd", "cannot take an open file from a host process with pidfd_getfd", take_fd},
	{"proc-fd", "cannot open a host process' file through /proc/PID/fd", open_its_fd},
	{"kcmp-victim", "cannot compare itself with a host process by kcmp", compare},
	{"kcmp-self", "cannot learn the order of kernel pointers by kcmp", compare_self},
};
ATTACKS("process", rows);
