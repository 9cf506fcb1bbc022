/*
 * sockets: what the sockets of a network namespace hold, as the kernel tells whoever has a socket of sock_diag's in it.
 *
 * Not listed are those without an address (TCP and UDP), and those that were closed while what they sent to a UNIX
 * socket lies there unread: the namespace's number of sockets (/proc/PID/net/sockstat) has them, too.
 *
 * No heap. Nothing waits, but where the kernel has to load a module for one of these tables: once.
 */
#ifndef CORDON_SYS_SOCKETS_H
#define CORDON_SYS_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
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
 * TCP, UDP and UNIX sockets, until there are more bytes than `most`. What this kernel does not tell is left out, and is
 * noted in *refused, which is 0 for the first call and the caller's to keep: it is not asked for again, since the
 * kernel would have the host look for a module each time, and we would wait for that. 0 or -errno, and then there may
 * be more.
 */
int sys_sockets_sum(int fd, uint64_t most, uint32_t *refused, struct sys_sockets *ret);

/* Does this answer say that the kernel has no such table? By itself, or as the end of an empty list. */
bool sys_sockets_are_refused(const void *answer, size_t n);

#endif
