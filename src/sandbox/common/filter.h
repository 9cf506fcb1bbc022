/*
 * filter: the seccomp program of a workload.
 *
 * An allowlist over system call numbers, laid out as a binary search so that its longest path is short: the kernel
 * walks that path for each number when the filter is installed, and for each call that its cache cannot decide. Foreign
 * architectures and x32 are killed. What is not listed answers ENOSYS, as an older kernel would, so that programs fall
 * back; what is dangerous and known answers EPERM, through a notification where the denial is worth an audit event.
 *
 * Calls that make names in the file system are handed to the guard (sandbox/native/guard.h) where the plan has patterns
 * to hold.
 */
#ifndef CORDON_SANDBOX_FILTER_H
#define CORDON_SANDBOX_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sock_filter;

enum { FILTER_MAX = 1600 };

struct filter_options {
	bool guard;	     /* calls that make names go to the guard */
	bool notify_denials; /* denials worth an event are notified */
	/* memory that no limit would count is refused: memfd, SysV shared memory, queues and semaphores, Landlock's
	 * rules, large pipes */
	bool no_memfd;
	bool no_ipc;	     /* no System V IPC and no message queues: others would share them */
	bool exec_limited;   /* only sealed (never executable) memfds */
	bool root; /* the workload may be root of an image: setuid modes, chroot and capset are its own affair there */
	bool one_id; /* ... which has only one id: changes of owners and groups go to PID 1, who says that they were
			made; without notifications they are said to be. Becoming another goes there to be told of */
	bool pin_cpus;	     /* the CPU limit is an affinity: it must stay */
};

/* Writes the program into out (room for FILTER_MAX); its length, or -errno. */
int filter_build(const struct filter_options *o, struct sock_filter *out);

/* The name of a system call that the filter knows as dangerous, or NULL. */
const char *filter_name(int nr);

/* Does the guard make the names for this call? Else a notified call is a denial. */
bool filter_is_guarded(int nr);

/* Is the call one that is only said to have been made? */
bool filter_is_pretended(int nr);
/* Is it one that asks for an id? */
bool filter_is_id(int nr);

#endif
