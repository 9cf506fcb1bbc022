/*
 * sockets: what the sockets of a network namespace hold, as the kernel tells whoever has a socket of sock_diag's in it.
 *
 * Not listed are those without an address (TCP and UDP), and those that were closed while what they sent to a UNIX
 * socket lies there unread: the namespace's number of sockets (/proc/PID/net/sockstat) has them, too.
 *
 * No heap. Nothing waits.
 */
#ifndef CORDON_SYS_SOCKETS_H
#define CORDON_SYS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum { SYS_SOCKET_BYTES = 2048 /* of one that is empty: the kernel takes from one to three KiB */ };

struct sys_sockets {
	uint64_t n;	/* of sockets that are listed */
	uint64_t bytes; /* that they hold, and are */
};

/* In the network namespace that this process is in; -errno. */
int sys_sockets_open(void);

/* Is it one of these? */
bool sys_sockets_is(int fd);

/*
 * TCP, UDP and UNIX sockets, until there are more bytes than `most`. What this kernel does not tell is left out. 0 or
 * -errno, and then there may be more.
 */
int sys_sockets_sum(int fd, uint64_t most, struct sys_sockets *ret);

#endif
