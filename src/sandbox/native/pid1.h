/*
 * pid1: the first process inside. Builds the root, starts the workload, and stays: it reaps, passes signals on, answers
 * the filter's notifications, starts further commands, and ends when the first command ends, which ends everything else
 * inside.
 *
 * It keeps CAP_SYS_PTRACE (to read arguments of processes that hide their memory) and CAP_SYS_ADMIN (to lay masks) of
 * its own user namespace, is not dumpable, has an empty environment, and holds no fd of the host but its socket. From
 * inside it can be neither signalled nor traced.
 */
#ifndef CORDON_NATIVE_PID1_H
#define CORDON_NATIVE_PID1_H

#include "sandbox/native/native.h"

struct pid1_start {
	const struct native_request *req;
	int socket;	 /* to the supervisor */
	uint32_t map_uid, map_gid; /* host ids that we map ourselves; meaningless where mapped_by_parent */
	uint32_t host_uid; /* what the workload is on the host */
	bool mapped_by_parent;
	bool in_v2_cgroup; /* we were started there */
};

/* Never returns. */
void pid1_main(const struct pid1_start *start) __attribute__((noreturn));

#endif
