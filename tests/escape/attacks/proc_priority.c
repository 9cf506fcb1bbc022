/* Taking more than a fair share of the machine by priority. */
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>

#include "attack.h"

static int raise_nice(const struct scene *s, const struct attack *a)
{
	int rc = setpriority(PRIO_PROCESS, 0, -5);

	return rc == 0 ? won("%s works", a->name) : lost_without(s, CAP_SYS_NICE, errno, a->name);
}

static int real_time(const struct scene *s, const struct attack *a)
{
	const struct sched_param param = {.sched_priority = (int)a->num2};
	int rc = sched_setscheduler(0, (int)a->num, &param);

	return rc == 0 ? won("%s works", a->name) : lost_without(s, CAP_SYS_NICE, errno, a->name);
}

static int real_time_io(const struct scene *s, const struct attack *a)
{
	long rc = syscall(SYS_ioprio_set, 1 /* process */, 0, 1 << 13 /* real time */);

	return rc == 0 ? won("%s works", a->name) : lost_without(s, CAP_SYS_NICE, errno, a->name);
}

static int hide_from_oom(const struct scene *s, const struct attack *a)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, a->text, strlen(a->text)) > 0)
		return won("oom_score_adj is now %s", a->text);
	return lost_without(s, CAP_SYS_RESOURCE, errno, a->name);
}

/* To write a file of a folder: by its path, as a shell opens it, from the folder, and through an fd that is a mere
 * path. */
static int open_in(const char *folder, const char *name, int how)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (how < 2)
		return open(path, how ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0600);
	fd = open(how == 2 ? folder : path, O_PATH | O_CLOEXEC);
	if (how == 2)
		return openat(fd, name, O_WRONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fd < 0 ? fd : open(path, O_WRONLY | O_CLOEXEC);
}

static int be_spared(const struct scene *s, const struct attack *a)
{
	static const char *const names[] = {"oom_score_adj", "oom_adj"};
	char own[32], task[48];
	const char *const folders[] = {"/proc/self", "/proc/thread-self", "/proc/self/root/proc/self", own, task};
	int i, fd;

	(void)snprintf(own, sizeof(own), "/proc/%d", (int)getpid());
	(void)snprintf(task, sizeof(task), "%s/task/%d", own, (int)getpid());
	for (i = 0; i < 40; i++) {
		fd = open_in(folders[i % 5], names[i / 20], i / 5 % 4);
		if (fd >= 0 && write(fd, "0", 1) == 1)
			return won("%s of %s is 0 now", names[i / 20], folders[i % 5]);
	}
	return lost(s, errno, a->name);
}

static int raise_limit(const struct scene *s, const struct attack *a)
{
	const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	int rc = setrlimit(RLIMIT_MEMLOCK, &limit);

	return rc == 0 ? won("%s works", a->name) : lost_without(s, CAP_SYS_RESOURCE, errno, a->name);
}

static const struct attack rows[] = {
	{"nice-negative", "cannot raise its priority above the others'", raise_nice, CONTROL_ROOT},
	{"sched-fifo", "cannot become real-time (SCHED_FIFO)", real_time, CONTROL_ROOT, .num = SCHED_FIFO, .num2 = 1},
	{"sched-rr", "cannot become real-time (SCHED_RR)", real_time, CONTROL_ROOT, .num = SCHED_RR, .num2 = 1},
	{"ioprio-rt", "cannot take real-time I/O priority", real_time_io, CONTROL_ROOT},
	{"oom-score", "cannot hide from the OOM killer", hide_from_oom, CONTROL_ROOT, .text = "-1000"},
	{"oom-ordinary", "cannot come to be spared as others are when memory runs out", be_spared, CONTROL_SELF},
	{"rlimit-raise", "cannot raise a hard limit", raise_limit, CONTROL_ROOT},
};
ATTACKS("process", rows);
