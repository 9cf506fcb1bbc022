/*
 * loop: the event loop of the gateway's roles. One thread, epoll, nothing blocks.
 *
 * Watches, timers and tasks are structs inside the caller's own ones: the loop allocates nothing for them, and adding
 * one fails only where the kernel says no. Zero them before first use (a zeroed struct is idle); they must not move
 * while they are in use. Removing or cancelling an idle one is fine, so that a destructor need not ask. Callbacks may
 * add, change, remove and free anything, also themselves, also a watch whose event waits in the same batch: after
 * loop_watch_remove() its callback is not called again.
 *
 * Watches are edge-triggered. The gateway's rate is made of small requests, and a level-triggered loop pays a system
 * call each time interest in writing comes and goes; here a connection is registered once, for both directions, and
 * costs nothing more until it is removed. The price is a discipline: after LOOP_READ read until it would block, or
 * remember that there is more and come back by a loop_task; the same for LOOP_WRITE. A read from a stream that returned
 * less than was asked for has emptied it unless LOOP_HANGUP was reported (then the end is still to be read), so the
 * read that only finds EAGAIN can be spared. LOOP_LEVEL is for fds that somebody else's code reads (a resolver
 * library), and for listeners that accept a few at a time.
 *
 * Order within one iteration: events, timers that are due, tasks. A task runs once per posting; posted by a task, it
 * runs in the next iteration, which then does not sleep. Tasks are where objects free themselves: no event of this
 * batch is left by then.
 *
 * Time is monotonic, in milliseconds, read once per iteration (loop_now). A timer never fires before its time.
 * Re-arming a timer for later, what each request does to its connection's time limit, is two stores: it finds its place
 * when its old time comes.
 */
#ifndef CORDON_LOOP_LOOP_H
#define CORDON_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;

enum {
	LOOP_READ = 1,	 /* there may be something to read, or the end, or an error */
	LOOP_WRITE = 2,	 /* there may be room to write, or an error */
	LOOP_HANGUP = 4, /* reported only: the peer sends no more; with LOOP_READ */
	LOOP_GONE = 8,	 /* reported only: both directions are over; with LOOP_READ and LOOP_WRITE */
	LOOP_LEVEL = 16	 /* asked for only: report as long as it holds, not once */
};

typedef void loop_watch_fn(void *arg, unsigned events);
typedef void loop_fn(void *arg);

/* The fields are the loop's own. */
struct loop_watch {
	struct loop *loop; /* NULL: idle */
	loop_watch_fn *fn;
	void *arg;
	int fd;
};

struct loop_timer {
	struct loop_timer *child, *next,
		*prev; /* a pairing heap: prev is the left sibling, or the parent of a first child */
	struct loop *loop;			/* NULL: idle */
	loop_fn *fn;
	void *arg;
	int64_t key; /* its place in the heap, never after due */
	int64_t due;
};

struct loop_task {
	struct loop_task *next, *prev;
	loop_fn *fn; /* NULL: idle */
	void *arg;
};

struct loop *loop_new(void); /* NULL: errno says why */
void loop_free(struct loop *loop); /* NULL is fine. What is still watched or armed is forgotten, not called. */

/* Runs until loop_stop(), or until waiting fails. 0 or -errno. */
int loop_run(struct loop *loop);

/* Ends loop_run() after the tasks of this iteration. */
void loop_stop(struct loop *loop);

/* One iteration: waits at most max_wait milliseconds (-1: as long as it takes). 0 or -errno. For tests, and loops
 * within loops. */
int loop_step(struct loop *loop, int max_wait);

int64_t loop_now(const struct loop *loop);

/*
 * Watches fd for events. fd stays the caller's: remove first, then close. The state at the time of adding counts as an
 * edge: what is already readable or writable is reported. 0 or -errno (-EBUSY: this watch is in use; -EPERM: a regular
 * file; -EEXIST: the fd has a watch).
 */
int loop_watch_add(struct loop *loop, struct loop_watch *watch, int fd, unsigned events, loop_watch_fn *fn, void *arg);

/* Watches for other events; reports anew what holds now. Only LOOP_LEVEL watches need it in daily work. 0 or -errno. */
int loop_watch_change(struct loop_watch *watch, unsigned events);
void loop_watch_remove(struct loop_watch *watch);

static inline bool loop_watch_active(const struct loop_watch *watch)
{
	return watch->loop;
}

/* Calls fn(arg) once, delay milliseconds after loop_now(); armed already, it is moved, and fn and arg replaced. Delays
 * below 0 count as 0. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t delay, loop_fn *fn, void *arg);
void loop_timer_cancel(struct loop_timer *timer);

static inline bool loop_timer_armed(const struct loop_timer *timer)
{
	return timer->loop;
}

/* Calls fn(arg) once at the end of this iteration. Posted already, it stays where it is, with the new fn and arg. */
void loop_task_post(struct loop *loop, struct loop_task *task, loop_fn *fn, void *arg);
void loop_task_cancel(struct loop_task *task);

#endif
