/* What makes its caller more urgent than others, handed down to what runs inside. */
#include <sched.h>
#include <sys/resource.h>

#include "attack.h"

static int class_kept(const struct scene *s, const struct attack *a)
{
	int class = sched_getscheduler(0);

	(void)a;
	if (class < 0)
		return lost(s, errno, "sched_getscheduler");
	return class == SCHED_FIFO ? won("the class is SCHED_FIFO") : refused("the class is %d", class);
}

static int nice_kept(const struct scene *s, const struct attack *a)
{
	int nice = getpriority(PRIO_PROCESS, 0);

	(void)s;
	(void)a;
	return nice < 0 ? won("the nice value is %d", nice) : refused("the nice value is %d", nice);
}

static int io_kept(const struct scene *s, const struct attack *a)
{
	long now = syscall(SYS_ioprio_get, 1, 0);

	if (now < 0)
		return lost(s, errno, a->name);
	return now >> 13 == 1 ? won("the class of I/O is real-time") : refused("the class of I/O is %ld", now >> 13);
}

static const struct attack rows[] = {
	{"urgent-class", "does not inherit a real-time class", class_kept, CONTROL_ROOT, STAGE_URGENT},
	{"urgent-nice", "does not inherit a negative nice value", nice_kept, CONTROL_ROOT, STAGE_URGENT},
	{"urgent-io", "does not inherit real-time I/O", io_kept, CONTROL_ROOT, STAGE_URGENT},
};
ATTACKS("process", rows);
