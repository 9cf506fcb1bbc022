/*
 * spaces: the namespaces of a sandbox, made while its plan is.
 *
 * A network namespace takes the kernel longer than all mounts of a sandbox. So a process beside us (sys/beside.h) makes
 * it and the others, on another CPU, from the moment in which it is known that there will be a sandbox; and PID 1 is
 * born from that process, as our child, with a copy of our memory as it is then. The limits of the user namespace are
 * set there as well. Only the namespace of cgroups is left to PID 1, which has to be in its cgroup before.
 *
 * Nothing is told of a failure before spaces_fork() is called.
 */
#ifndef CORDON_NATIVE_SPACES_H
#define CORDON_NATIVE_SPACES_H

#include <stdbool.h>
#include <sys/types.h>

struct spaces;

/* loopback: "lo" is up. 0; -errno: no user namespace can be made, or there is no memory. */
int spaces_start(bool loopback, struct spaces **ret);
/* Of the process that is in them, for the maps of their ids; until spaces_fork(). */
pid_t spaces_pid(const struct spaces *s);

struct spaces_fork {
	void (*run)(void *arg, bool in_cgroup); /* in the child; does not return */
	void *arg;
	int cgroup; /* a v2 cgroup, which the child starts in where the kernel can do that (in_cgroup); -1: none */
};

/* Once. Our child's number and pidfd, or -errno: of the network namespace too. */
pid_t spaces_fork(struct spaces *s, const struct spaces_fork *fork, int *ret_pidfd);

/* They are not needed, or have been forked from: the process is waited for, which is better done when there is time.
 * NULL is fine. */
void spaces_free(struct spaces *s);

#endif
