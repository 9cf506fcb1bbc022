/* Calls that change or measure another process by its number. */
#include <sched.h>
#include <sys/resource.h>

#include "attack.h"

enum what { LIMIT, AFFINITY, NICE, IOPRIO, ROBUST, PAGES, SCHEDULER };

static long tune(enum what what, pid_t pid)
{
	struct rlimit limit;
	cpu_set_t set;
	struct sched_param param = {0};
	void *head = NULL;
	size_t n = 0;

	switch (what) {
	case LIMIT:
		return prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0 ? -1 : prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
	case AFFINITY:
		return sched_getaffinity(pid, sizeof(set), &set) < 0 ? -1 : sched_setaffinity(pid, sizeof(set), &set);
	case NICE:
		return setpriority(PRIO_PROCESS, (id_t)pid, getpriority(PRIO_PROCESS, (id_t)pid));
	case IOPRIO:
		return syscall(SYS_ioprio_set, 1, pid, 2 << 13 | 4);
	case ROBUST:
		return syscall(SYS_get_robust_list, pid, &head, &n);
	case PAGES:
		return syscall(SYS_move_pages, pid, 0, NULL, NULL, NULL, 0);
	case SCHEDULER:
		return sched_setscheduler(pid, SCHED_OTHER, &param);
	}
	return -1;
}

static int tune_victim(const struct scene *s, const struct attack *a)
{
	return judge(s, tune((enum what)a->num, (pid_t)fact_num(s, "victim")), a->name);
}

static const struct attack rows[] = {
	{"tune-limits", "cannot set limits of a host process with prlimit", tune_victim, .num = LIMIT},
	{"tune-affinity", "cannot bind a host process to a CPU", tune_victim, .num = AFFINITY},
	{"tune-nice", "cannot set the priority of a host process", tune_victim, .num = NICE},
	{"tune-ioprio", "cannot set the I/O priority of a host process", tune_victim, .num = IOPRIO},
	{"tune-robust", "cannot read the robust list of a host process", tune_victim, .num = ROBUST},
	{"tune-pages", "cannot look at the pages of a host process with move_pages", tune_victim, .num = PAGES},
	{"tune-scheduler", "cannot set the scheduler of a host process", tune_victim, .num = SCHEDULER},
};
ATTACKS("process", rows);
