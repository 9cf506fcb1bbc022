/*
 * close_socket: closing what others have open, too, without waiting for anybody.
 *
 * Whoever closes the last descriptor of a TCP socket with SO_LINGER waits until its peer has got all, or as long as the
 * option says. Whether ours is the last cannot be told: they may close theirs at any moment.
 */
#ifndef CORDON_SYS_CLOSE_SOCKET_H
#define CORDON_SYS_CLOSE_SOCKET_H

#include "base/cleanup.h"

/* Any descriptor. What a socket has still to send is sent behind our back. Uses SIGALRM and the real-time timer for a
 * moment; not for programs of several threads. */
void sys_close_at_once(int fd);

static inline void cleanup_shared_fd(int *fd)
{
	if (*fd >= 0)
		sys_close_at_once(*fd);
}

#define AUTO_SHARED_FD __attribute__((cleanup(cleanup_shared_fd))) int

#endif
