/*
 * guard_job: one call that the guard answers, and what its arguments are. For guard.c and guard_mode.c.
 */
#ifndef CORDON_NATIVE_GUARD_JOB_H
#define CORDON_NATIVE_GUARD_JOB_H

#include <errno.h>

#include "sandbox/native/guard.h"
#include "sys/seccomp.h"

struct job {
	const struct guard *g;
	int listener;
	const struct seccomp_call *call;
};

static inline int arg_fd(const struct job *j, unsigned i)
{
	return (int)(uint32_t)j->call->args[i];
}

/* Copies a path argument, and makes sure that it was the waiting caller's memory that was read. */
static inline int arg_path(const struct job *j, unsigned i, char to[PATH_MAX])
{
	int r = guard_read_path(j->call->pid, j->call->args[i], to);

	if (r == 0 && !seccomp_alive(j->listener, j->call->id))
		return -ESRCH;
	return r;
}

/* Tells the audit where there is a rule. */
static inline int verdict(const struct job *j, const char *rule, const char *path)
{
	if (!rule)
		return 0;
	j->g->denied(j->g->arg, rule, sv_of(path));
	return -EACCES;
}

#endif
