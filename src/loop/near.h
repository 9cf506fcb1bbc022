/*
 * near: keeps two processes that hand each other little things on one CPU.
 *
 * The kernel likes to wake a receiver on an idle CPU, although the sender is about to sleep and its own would be free.
 * Waking that takes longer than all that is to be done, fifty microseconds on a virtual machine. So one of the two
 * leads: it stays where it is for NEAR_MS, and says where that is; the other follows.
 *
 * Only while there is one thing to do at a time: what can be done at once is, on two CPUs. And never for long, since
 * whatever else came to that CPU would be in the way: after NEAR_MS each may run anywhere again, and the next time they
 * meet where the kernel has placed the leader.
 *
 * Who was bound to one CPU stays there. What others say about our CPUs meanwhile (taskset) counts from then on, unless
 * it is the very CPU that we stay on. Failures mean that nothing changes: it is only quicker or slower.
 */
#ifndef CORDON_LOOP_NEAR_H
#define CORDON_LOOP_NEAR_H

#include <sched.h>
#include <stdint.h>

#include "loop/loop.h"

enum {
	NEAR_MS = 20,
	NEAR_PAUSE = 200, /* ms: after near_part(), or where it could not be had */
	NEAR_CPUS = CPU_SETSIZE, /* those beyond are not used */
};

struct near {
	struct loop *loop;
	struct loop_timer timer;
	int64_t not_before; /* by loop_now() */
	cpu_set_t before;   /* where we ran before we stayed */
	int cpu;	    /* where we stay, or -1 */
};

void near_init(struct near *n, struct loop *loop);
void near_done(struct near *n);

/* The CPU to follow us to, or -1: none. */
int near_lead(struct near *n);

/* Goes to that CPU, and stays there for NEAR_MS; -1: nowhere. */
void near_follow(struct near *n, int cpu);

/* There is more to do than one CPU is for. */
void near_part(struct near *n);

#endif
