/*
 * compose_tool: a program of the operator's, run with exactly the arguments, environment, folder and descriptors that
 * it is given, and no longer than it may.
 *
 * It has a session of its own, so that all it started can be killed with it; it dies with us; no descriptor of ours but
 * 0, 1 and 2 reaches it.
 */
#ifndef CORDON_TASK_COMPOSE_TOOL_H
#define CORDON_TASK_COMPOSE_TOOL_H

#include "base/buf.h"
#include "base/error.h"

struct compose_tool {
	const char *program; /* absolute */
	char *const *argv, *const *env;
	const char *folder; /* it runs there */
	int in;		    /* -1: /dev/null */
	int out;	    /* its output and errors; -1: the end of them is kept in tail */
	unsigned ms;
};

enum { COMPOSE_TOOL_TIME = 124 };

/* Its exit status (128 + n after a signal; COMPOSE_TOOL_TIME: it was killed), or -errno where it could not be started.
 * tail: initialised by the caller, whose maximum is twice of what is kept; may be NULL where out is given. */
int compose_tool_run(const struct compose_tool *t, struct buf *tail);

/* A program on PATH, parts that are not absolute left out. In path (PATH_MAX); false: there is none. */
bool compose_tool_find(const char *path_list, const char *name, char *path, size_t size);

#endif
