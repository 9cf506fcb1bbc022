/*
 * role_confine: a program of the gateway gives up all that it does not need, before it reads the first byte of anybody
 * it does not trust.
 *
 * Unlike role.h this is for programs of their own (cordon-relay, cordon-egress, cordon-vault, cordon-unpack), which
 * were started with the descriptors of their role. After role_confine() such a program has no other descriptor, no
 * environment, no dump, no trace, no new privileges, bounded memory, and an allowlist of system calls: waiting for,
 * reading and writing what it holds, memory without the right to execute, the clock, random numbers, and what `may`
 * adds; who has sockets may also choose among its own CPUs. Without ROLE_TREE it opens no file; it starts nothing. Any
 * other call ends it (SIGSYS).
 *
 * A program built with sanitizers has neither the allowlist nor the bound on memory.
 */
#ifndef CORDON_SYS_ROLE_CONFINE_H
#define CORDON_SYS_ROLE_CONFINE_H

#include <stdint.h>

enum {
	ROLE_DIAL = 1,   /* sockets of IPv4 and IPv6, and their options: connecting them, and no binding */
	ROLE_ACCEPT = 2, /* connections on listening sockets that it was given, and their options */
	ROLE_SPLICE = 4, /* pipes, and moving bytes through them */
	ROLE_POLL = 8,   /* poll() in place of an event loop */
	ROLE_TREE = 16,  /* files, folders and links of whatever owner in one folder, which is its root from now on; it
			    must be id 0 of a user namespace */
};

struct role_needs {
	unsigned may;	       /* set of the above */
	unsigned first_closed; /* this descriptor and all above it are closed; those below stay */
	unsigned descriptors;  /* how many it may hold; less where the hard limit is lower */
	uint64_t memory;       /* bytes of address space */
	int folder;	       /* for ROLE_TREE */
	uint64_t file_size;    /* the largest that it may write; 0: none at all */
};

/* 0 or -errno; after a failure the program must end. */
int role_confine(const struct role_needs *needs);

#endif
