#include "sys/stamp.h"

enum { TICK_MS = 1, TICKS = 100 };

void sys_stamp(struct timespec *ret)
{
	(void)clock_gettime(CLOCK_REALTIME, ret);
}

void sys_stamp_pass(const struct timespec *stamp)
{
	static const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
	struct timespec now = {0};
	unsigned i;

	for (i = 0; i < TICKS; i++) {
		(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
		if (sys_stamp_later(now, *stamp))
			return;
		(void)nanosleep(&tick, NULL);
	}
}

void sys_stamp_first(struct timespec *ret)
{
	(void)clock_gettime(CLOCK_REALTIME_COARSE, ret);
}
