/*
 * role: a child of ours that parses what others wrote, and can do nothing but that.
 *
 * role_fork() makes a child with one end of a stream socket and nothing else: every other fd is closed, the environment
 * is wiped from its memory, it cannot be traced or dumped, gains no privileges, opens nothing, starts nothing, and dies
 * with us. Its memory and CPU time are bounded. Then an allowlist of system calls holds: read and write on its socket,
 * memory without the right to execute, the clock, the end; anything else kills it (SIGSYS). The child is a copy of us,
 * not a fresh program: only for processes that hold no credential (the environment apart) and have no threads.
 *
 * A program built with sanitizers has neither the filter nor the memory bound: they need more than a parser may have.
 */
#ifndef CORDON_SYS_ROLE_H
#define CORDON_SYS_ROLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct role_bounds {
	uint64_t memory; /* bytes of address space */
	unsigned cpu_seconds;
};

/*
 * fn(arg, socket) runs in the child; what it returns is the child's exit status. Returns the child's pid, and our end
 * of the socket (O_CLOEXEC) in *ret_socket; or -errno. A child that cannot be confined exits with ROLE_NOT_CONFINED
 * before fn.
 */
pid_t role_fork(const struct role_bounds *bounds, int (*fn)(void *arg, int socket), void *arg, int *ret_socket);

enum { ROLE_NOT_CONFINED = 99 };

/* Kills the child where it still lives, and reaps it. Its wait status, or -errno. */
int role_end(pid_t pid, bool kill_it);

/* Does the allowlist hold in this build? */
bool role_is_filtered(void);

#endif
