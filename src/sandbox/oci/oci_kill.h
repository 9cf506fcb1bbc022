/*
 * oci_kill: a runtime's processes and their end, by descent: whatever a process has started and what that has started,
 * as long as its parents live.
 *
 * Numbers of processes are used again, so each is held by a descriptor and looked at once more before it is killed.
 * Bounded in time; nothing here fails.
 */
#ifndef CORDON_OCI_KILL_H
#define CORDON_OCI_KILL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Kills the descendants of root, a process that cannot go away meanwhile (a child of ours that was not waited for, or
 * one that is held and was found to be the right one), not root itself. settled: none of them starts others any more,
 * but in the container, all of which ends with its PID 1: then once is enough, and nobody is waited for.
 */
void oci_kill_descendants(pid_t root, bool settled);

/*
 * Ends root, a child of ours behind pidfd, with all that comes of it, and waits for it. It is not left to clean up.
 * Orphans become our children for that moment, and are waited for, which not every host's PID 1 would do: each at most
 * that long.
 */
void oci_end_child(pid_t root, int pidfd, bool settled, int timeout_ms);

/* The descendant of root whose first word is this name; 0: there is none. */
pid_t oci_find_descendant(pid_t root, const char *name);

/* Has it children, dead ones that it has not waited for included? */
bool oci_has_children(pid_t pid);

/* When the process was started, in the kernel's ticks since boot; 0: there is none. With its number, that names it for
 * as long as the machine runs. */
uint64_t oci_started(pid_t pid);

/* Waits for the process behind pidfd, at most that long. Has it ended? */
bool oci_wait(int pidfd, int timeout_ms);

#endif
