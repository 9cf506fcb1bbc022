/*
 * watch_members: the processes of a sandbox, for the watchdog.
 *
 * They are listed in the sandbox's own /proc, which lists exactly its PID namespace and those below: its PID 1 sends a
 * descriptor of it, or it is reached through PID 1's root. Where there is none (yet), by the tree of children in the
 * host's.
 *
 * Whoever forks and ends while others are looked at must not slip through with what its child has by then: a walk lists
 * and visits all, and then, round by round, lists again and at once visits those that came meanwhile, until there were
 * none, or for WATCH_ROUNDS. At most WATCH_MAX_PROCESSES are visited; the count goes on.
 *
 * Owns an fd and memory. The pid must stay unreaped by the caller, or it could be another's.
 */
#ifndef CORDON_SUPERVISE_WATCH_MEMBERS_H
#define CORDON_SUPERVISE_WATCH_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WATCH_MAX_PROCESSES = 32768, WATCH_ROUNDS = 16 };

struct watch_members {
	pid_t init;  /* the sandbox's PID 1, as the host numbers it */
	bool tree;   /* init is no PID 1: the members are it and its descendants */
	int proc_fd; /* the sandbox's /proc, or -1 */
	bool blind;  /* the last walk needed the tree of children, and the kernel shows us none of it */
	bool late;   /* while a process is visited: it came after the walk had begun */
	pid_t *listed; /* as they were listed last, in the order of their numbers; where the walk went on to its end all
			  of these were visited */
	size_t n_listed, listed_cap;
};

void watch_members_init(struct watch_members *m, pid_t init, bool tree);
void watch_members_done(struct watch_members *m);

/* Takes the fd that is said to be the sandbox's /proc. False: it is no such thing, and closed. */
bool watch_members_take_proc(struct watch_members *m, int fd);
/* Where there is none yet, through PID 1: who may not look at that one finds none. */
void watch_members_find_proc(struct watch_members *m);

/* Called once per process; proc is the folder that pid names an entry of. It may be gone by then. */
typedef void watch_visit_fn(int proc, const char *pid, void *arg);

/* How many there were when they were listed last; 0: PID 1 has ended. */
uint64_t watch_members_each(struct watch_members *m, watch_visit_fn *visit, void *arg);

#endif
