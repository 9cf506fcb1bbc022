/*
 * scratch: a private folder for as long as one command lasts.
 *
 * It is made below a folder of the user's own (which is made where it is missing), with mode 0700, and locked.
 * scratch_done() removes it with all that is in it. One whose maker was killed is removed by the next scratch_make() in
 * the same place, a minute or more later: its lock is free.
 */
#ifndef CORDON_TASK_SCRATCH_H
#define CORDON_TASK_SCRATCH_H

#include <limits.h>

#include "base/error.h"

struct scratch {
	char path[PATH_MAX]; /* absolute; "" where there is none */
	int fd;
};

/* where: absolute. It must be the caller's alone. */
int scratch_make(const char *where, struct scratch *ret, struct error *err);
void scratch_done(struct scratch *s);

#define SCRATCH_NONE                                                                                                   \
	{                                                                                                              \
		.fd = -1                                                                                               \
	}
#define AUTO_SCRATCH __attribute__((cleanup(scratch_done))) struct scratch

#endif
