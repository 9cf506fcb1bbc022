/*
 * native: the backend that needs nothing but the kernel.
 *
 * native_begin() has namespaces made while the plan is (spaces.h). native_start() makes the process that becomes PID 1
 * inside (pid1.h); that one builds the root from the plan, confines and starts the workload, and stays to reap, forward
 * signals, and make names on the workload's behalf (guard.h). The caller keeps the other end of a socket: messages are
 * those of model/inside.h.
 *
 * Everything dies with PID 1, and PID 1 dies with us (parent-death signal, and end of file on the socket).
 */
#ifndef CORDON_NATIVE_H
#define CORDON_NATIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/plan.h"
#include "sandbox/common/confine.h"

struct cgroup;
struct spaces;

struct native_request {
	const struct plan *plan;
	struct confine_features features;
	int stdio[3];	/* for the workload; borrowed */
	bool tty[3];	/* give it the sandbox's own terminal in this place */
	unsigned short rows, columns;
	const struct cgroup *cgroup; /* PID 1 joins it; NULL: none */
	int join[2]; /* user and network namespace of another sandbox with an image and the same ids, which this one is
			to share; -1: its own */
	char **argv; /* our own, as main() got it: PID 1 wipes its copy, for those inside can read it */
};

struct native {
	pid_t pid;   /* of PID 1, on the host */
	int pidfd;
	int socket;
	struct spaces *spaces; /* that were made ahead, and wait for native_start(); then their maker, until
				  native_go(); NULL: none */
};

void native_probe(struct confine_features *ret);

/* What a workload that this process starts is on the host: our own user, or, where we are the host's root, somebody who
 * owns nothing. */
uint32_t native_host_uid(void);

/* There will be a sandbox, of the host's base system and with a network namespace of its own. n is empty (pid, pidfd
 * and socket -1). What fails is tried again, and told, by native_start(). */
void native_begin(struct native *n, bool loopback);
/* Forks. From here the caller may do slow things (cgroups) while the namespaces are made, then must call native_go().
 */
int native_start(const struct native_request *req, struct native *ret, struct error *err);
/* Tells PID 1 to go on: everything on the host's side is ready. hold: it starts no command by itself. */
int native_go(struct native *n, bool hold, struct error *err);
/* Kills whatever is left and closes. */
void native_done(struct native *n);

#endif
