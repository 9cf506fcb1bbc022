/*
 * pen: writes what somebody may not take, without waiting for them for ever.
 *
 * Whoever supervises must not stand still because a terminal or a pipe is full: no limit would hold. The descriptors
 * that we were given are shared with others, who do not expect O_NONBLOCK on them: a terminal is opened anew, and where
 * that cannot be, and for pipes, what is written at once is so small that what is ready takes it.
 */
#ifndef CORDON_SYS_PEN_H
#define CORDON_SYS_PEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sys_pen {
	int fd; /* to poll for room; -1: none */
	bool own;
	size_t most; /* bytes that do not wait where there is room */
};

/* The descriptor stays the caller's, open for as long as the pen. */
void sys_pen_open(struct sys_pen *p, int fd);
void sys_pen_close(struct sys_pen *p); /* twice is fine */

/* After poll() has seen room. Bytes written, or -errno: -EAGAIN for none. */
ssize_t sys_pen_write(const struct sys_pen *p, const void *bytes, size_t n);

/* Writes all, as long as some of it is taken every ms milliseconds. 0 or -errno: -EAGAIN where it was not. */
int sys_pen_finish(const struct sys_pen *p, const void *bytes, size_t n, int ms);

/* The same with a pen for this once. */
int sys_pen_write_all(int fd, const void *bytes, size_t n, int ms);

#endif
