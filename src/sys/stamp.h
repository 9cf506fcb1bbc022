/*
 * stamp: moments that can be compared with the times of files.
 *
 * Kernels stamp files with a coarse clock, some milliseconds behind, or with one between that and the fine one. No
 * stamp that was given before sys_stamp() is later than it; none that is given after sys_stamp_pass() is not.
 */
#ifndef CORDON_SYS_STAMP_H
#define CORDON_SYS_STAMP_H

#include <stdbool.h>
#include <time.h>

void sys_stamp(struct timespec *ret);
/* Waits for the next tick of the coarse clock, where it has not passed; a tenth of a second at most. */
void sys_stamp_pass(const struct timespec *stamp);
/* No stamp that is given from now on is earlier; one that was given in the tick before may not be either. */
void sys_stamp_first(struct timespec *ret);

static inline bool sys_stamp_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

#endif
