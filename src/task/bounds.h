/*
 * bounds: what a task asks for in one phase, as a policy file. The operator's policy is cut down to it, so that a task
 * can only tighten: nothing that stands here opens anything.
 *
 * The text is JSON, which is YAML, made from checked values only.
 */
#ifndef CORDON_TASK_BOUNDS_H
#define CORDON_TASK_BOUNDS_H

#include "base/buf.h"
#include "base/error.h"
#include "model/task.h"

struct bounds {
	const struct task_network *network; /* NULL: no bound, as for a build */
	bool offline;			    /* no network, whatever network says */
	uint64_t timeout_ms;		    /* 0: no bound */
	const struct task_environment *environment; /* cpus and memory; NULL: no bounds */
	uint64_t processes; /* of a container's own; 0: no bound */
};

/* ERROR_INPUT where a task asks for addresses that only an operator may open. */
int bounds_write(const struct bounds *b, struct buf *out, struct error *err);

/* May a task name it in allowed_hosts? Names and public addresses: private ones and networks are the operator's to
 * open. */
bool bounds_host_is_fine(const char *host);

#endif
