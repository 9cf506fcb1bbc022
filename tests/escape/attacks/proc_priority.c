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
	{"rlimit-raise", "cannot raise a hard limit", raise_limit, CONTROL_ROOT},
};
ATTACKS("process", rows);
