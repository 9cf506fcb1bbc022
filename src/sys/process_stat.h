/*
 * process_stat: where a process comes from, as /proc/PID/stat says.
 */
#ifndef CORDON_SYS_PROCESS_STAT_H
#define CORDON_SYS_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sys_process_stat {
	pid_t parent, session;
	uint64_t ignored; /* signals below 32, the first as bit 0 */
	uint64_t start; /* in ticks since boot: with the pid it names one process for good */
	bool dead;	/* all its threads are, and nobody has waited for it */
};

/* false: it is gone. */
bool sys_process_stat(pid_t pid, struct sys_process_stat *ret);

#endif
