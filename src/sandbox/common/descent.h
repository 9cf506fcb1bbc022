/*
 * descent: ends all that comes of a command, for the first process of its sandbox. Signals reach a process group; who
 * leaves it, and whose parents are gone, is found in /proc.
 *
 * A process is a command's where it is in the session that the command's process began, for nobody can join one, or
 * where an ancestor of it is. Left are those that began a session themselves and whose parents ended: of them only
 * their age says whose they could be. Where the kernel tells by the listener of the command's filter that nothing of it
 * is left, they are not touched.
 */
#ifndef CORDON_SANDBOX_DESCENT_H
#define CORDON_SANDBOX_DESCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DESCENT_OTHERS = 96 };

struct descent {
	pid_t root;                   /* the command's process; it may have ended */
	uint64_t since;               /* when it was started, in the units of descent_start(); 0: not known */
	int listener;                 /* of its filter, or -1 */
	pid_t others[DESCENT_OTHERS]; /* our other children: their sessions are not touched */
	size_t n_others;
};

/* When a process was started, in ticks of the kernel's; 0: it is gone, or there is no /proc. */
uint64_t descent_start(pid_t pid);
/* Now, in the same. gVisor begins to count elsewhere. */
uint64_t descent_now(void);

/*
 * Kills all of it, and looks again until nothing is left: 30 times at the worst, for which all else in the sandbox is
 * made to stand still for a moment. Those whose parents ended and who are no older than it go, whosever they are, where
 * there is no listener or it says that something is left. False: it is not certain that all is gone, or there is no
 * /proc to look at.
 */
bool descent_end(const struct descent *d);

#endif
