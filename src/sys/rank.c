#include "sys/rank.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_ZERO = 20 }; /* the system call's answer for 0; more of it is more urgent */

/* libc's may be stubs: the calls are for a thread, and POSIX speaks of processes. */
static int leave_real_time(void)
{
	int ordinary = 0; /* struct sched_param */
	long class = syscall(SYS_sched_getscheduler, 0), kept;

	if (class < 0)
		return -errno;
	/* that its children are ordinary, an ordinary user cannot take back, and would be refused the rest with it */
	kept = class & SCHED_RESET_ON_FORK;
	class -= kept;
	if (class == SCHED_NORMAL || class == SCHED_BATCH || class == SCHED_IDLE)
		return 0;
	return syscall(SYS_sched_setscheduler, 0, SCHED_NORMAL | kept, &ordinary) < 0 ? -errno : 0;
}

static int leave_negative_nice(void)
{
	if (syscall(SYS_getpriority, PRIO_PROCESS, 0) <= NICE_ZERO)
		return 0;
	return syscall(SYS_setpriority, PRIO_PROCESS, 0, 0) < 0 ? -errno : 0;
}

static int leave_real_time_io(void)
{
	long now = syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);

	if (now < 0 || IOPRIO_PRIO_CLASS(now) != IOPRIO_CLASS_RT)
		return 0;
	return syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0)) < 0 ? -errno : 0;
}

int sys_rank_give_up(void)
{
	int r = leave_real_time();

	if (r == 0)
		r = leave_negative_nice();
	return r < 0 ? r : leave_real_time_io();
}
