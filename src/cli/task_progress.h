/*
 * task_progress: what a person sees while a task runs.
 *
 * On a terminal one line of standard error that is written over: phase, seconds, and the last line that was printed
 * inside. Elsewhere a line for each phase when it begins.
 */
#ifndef CORDON_CLI_TASK_PROGRESS_H
#define CORDON_CLI_TASK_PROGRESS_H

#include <stdint.h>

#include "cli/cli.h"
#include "task/attend.h"

struct progress {
	const struct call *call;
	bool live;	/* standard error is a terminal */
	const char *phase;
	uint64_t since; /* ms */
	char line[ATTEND_LINE];
};

void task_progress_init(struct progress *p, const struct call *call, struct task_progress *ret);
/* Takes the line away: what follows is for good. */
void task_progress_done(struct progress *p);

#endif
