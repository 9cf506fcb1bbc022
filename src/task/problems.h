/*
 * problems: all that is wrong with a task, not only the first of it.
 *
 * One line each, in the form that errors have: "FILE:LINE: key: what; what to do". Untrusted text must be escaped
 * before it gets here (base/text.h). At most PROBLEMS_MAX lines are kept, the others are counted. Owns its lines:
 * problems_done() frees them. Where memory ends a line is counted and not kept, so a list that had something added is
 * never empty.
 */
#ifndef CORDON_TASK_PROBLEMS_H
#define CORDON_TASK_PROBLEMS_H

#include <stddef.h>

#include "base/error.h"

enum { PROBLEMS_MAX = 64 };

struct problems {
	char *v[PROBLEMS_MAX];
	size_t n;
	size_t more; /* that were found and not kept */
};

void problems_done(struct problems *p);

void problems_add(struct problems *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 0 where there are none. Else -1: ERROR_INPUT with the first of them, and how many there are. */
int problems_error(const struct problems *p, struct error *err);

#define AUTO_PROBLEMS __attribute__((cleanup(problems_done))) struct problems

#endif
