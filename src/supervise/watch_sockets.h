/*
 * watch_sockets: what the sockets of a sandbox's network namespace hold, for the watchdog.
 *
 * Datagrams that are not sent yet are in no cgroup, and where no cgroup counts memory no buffers are in any. PID 1
 * sends a socket that may ask the kernel for the sockets that have an address; how many there are in all, the namespace
 * says. Of the others, which can hold as much, WATCH_SOCKETS_FEW are any program's: each further one counts with the
 * most that a socket may have, and all no more than the kernel's memory has grown by (watch_kernel.h), or, where that
 * is more, what TCP and UDP have of the whole host: pages that were free to be used again just before do not show in
 * the former.
 *
 * Sockets are the namespace's: those of sandboxes that share one are counted by the one that it belongs to.
 *
 * Owns an fd.
 */
#ifndef CORDON_SUPERVISE_WATCH_SOCKETS_H
#define CORDON_SUPERVISE_WATCH_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum { WATCH_SOCKETS_FEW = 16 };

struct watch_sockets {
	int fd;           /* -1: nobody can be asked */
	uint32_t refused; /* tables that this kernel does not have */
	/* What the last look found. */
	uint64_t bytes;    /* that are held by those that are listed */
	uint64_t others;   /* the most that others hold */
	uint64_t least;    /* that TCP and UDP had of the host */
	uint64_t grown;    /* what that has grown by, where there are others */
	uint64_t after_us; /* no look before this time, unless somebody wants one */
};

void watch_sockets_init(struct watch_sockets *s);
void watch_sockets_done(struct watch_sockets *s);

/* Takes the fd that is said to be such a socket. False: it is not, and closed. */
bool watch_sockets_take(struct watch_sockets *s, int fd);

/* Looks. proc: the sandbox's own /proc, or -1. It does not look further where there is more than `most`. */
void watch_sockets_look(struct watch_sockets *s, int proc, uint64_t most);
/* Looks where the last one is a while ago, a few times a second; a fiftieth of the time at most. */
void watch_sockets_look_again(struct watch_sockets *s, int proc, uint64_t most);

/* The number of sockets in a text like /proc/net/sockstat's. */
uint64_t watch_sockets_number(const char *sockstat);

/* What TCP and UDP have, in bytes, of such a text. */
uint64_t watch_sockets_memory(const char *sockstat);

/* What those of so many that are not listed may hold, with `each` the most that one may. */
uint64_t watch_sockets_others(uint64_t listed, uint64_t all, uint64_t each);

#endif
