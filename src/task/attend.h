/*
 * attend: one sandbox of a task from its start to its end: what it prints goes to a file, up to a bound, and its last
 * line to whoever shows progress.
 *
 * SIGINT, SIGTERM and SIGHUP must be blocked by the caller and readable from `signals`: the sandbox is told to end, is
 * ended when it does not within ATTEND_GRACE_MS, and the caller learns which signal it was. A second one ends it at
 * once.
 */
#ifndef CORDON_TASK_ATTEND_H
#define CORDON_TASK_ATTEND_H

#include "task/launcher.h"

enum { ATTEND_OUTPUT_MAX = 64 << 20, ATTEND_LINE = 160, ATTEND_GRACE_MS = 1000 };

/* Told what happens, for a person who waits. Either may be NULL. */
struct task_progress {
	void (*phase)(void *arg, const char *phase);
	void (*line)(void *arg, const char *line); /* the last line that was printed, escaped; or NULL: time passes */
	void *arg;
};

struct attend {
	const struct task_launcher *launcher;
	const struct task_progress *progress;
	int signals; /* signalfd, non-blocking */
};

/* Blocks these signals, for good, and makes a->signals, which the caller closes. */
int attend_signals(struct attend *a, struct error *err);

/*
 * log: where its output goes; -1: nowhere. It is written by us alone. s->out is filled in here. *ret_signal: the first
 * that came, or 0.
 */
int attend(const struct attend *a, struct task_sandbox *s, int log, struct task_ended *ret, int *ret_signal,
	   struct error *err);

/* A signal that came, or 0. It is taken. */
int attend_signal(const struct attend *a);

/* Asks a sandbox to end. What does not within the grace, and its processes with it, is ended. */
void attend_stop(const struct task_running *run, uint32_t grace_ms);

#endif
