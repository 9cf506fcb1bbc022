/*
 * cleanup: scope-bound release of fds and heap.
 *
 * Every AUTO_ variable must be initialised where it is declared (-1 or NULL).
 * fd_take() and ptr_take() move the value out, so that the scope's end leaves it alone.
 */
#ifndef CORDON_BASE_CLEANUP_H
#define CORDON_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

/* close() is never retried: on Linux the fd is gone even after EINTR. */
static inline void cleanup_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline int fd_take(int *fd)
{
	int v = *fd;
	*fd = -1;
	return v;
}

#define AUTO_FD __attribute__((cleanup(cleanup_fd))) int
#define AUTO_FREE __attribute__((cleanup(cleanup_free)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
