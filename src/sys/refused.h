/*
 * refused: the kernel's word about connections that redirect.h refused, for the log.
 *
 * Opened in the namespace, with CAP_NET_ADMIN over it; read by whoever has the socket, without any. Who dials faster
 * than is read loses some of what would be told, never the refusal.
 */
#ifndef CORDON_SYS_REFUSED_H
#define CORDON_SYS_REFUSED_H

#include <stdint.h>
#include <sys/socket.h>

/* A socket that does not block, to read from; or -errno. */
int refused_open(void);

struct refused {
	struct sockaddr_storage to; /* where it was meant to go; the port is 0 where it could not be seen */
	uint32_t number;	    /* counts up from 0; those that are missing were lost */
};

/* The next one: 1; 0: none is waiting; -ENOBUFS: some were lost, there may be more; another -errno: it cannot be read.
 */
int refused_read(int fd, struct refused *ret);

#endif
