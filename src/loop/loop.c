#include "loop/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "loop/heap.h"

/* Events fetched at a time: enough that a busy loop rarely asks twice, few enough that timers are not kept waiting. */
enum { BATCH = 256 };

struct loop {
	int epoll_fd;
	bool stopped;
	bool in_timers;
	int64_t now;
	struct loop_timer *timers;
	struct loop_task tasks; /* heads of rings: what is posted, */
	struct loop_task due;	/* and what is being run */
	int batch_at, batch_n;
	struct epoll_event batch[BATCH];
};

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0) {
		free(loop);
		return NULL;
	}
	loop->tasks.next = loop->tasks.prev = &loop->tasks;
	loop->due.next = loop->due.prev = &loop->due;
	loop->now = clock_ms();
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	(void)close(loop->epoll_fd);
	free(loop);
}

int64_t loop_now(const struct loop *loop)
{
	return loop->now;
}

void loop_stop(struct loop *loop)
{
	loop->stopped = true;
}

/* Watches. */

static uint32_t to_epoll(unsigned events)
{
	uint32_t e = EPOLLRDHUP;

	if (events & LOOP_READ)
		e |= EPOLLIN;
	if (events & LOOP_WRITE)
		e |= EPOLLOUT;
	/* A level-triggered end would be reported for ever to a watch that is only waiting to write. */
	if ((events & LOOP_LEVEL) && !(events & LOOP_READ))
		e &= ~(uint32_t)EPOLLRDHUP;
	if (!(events & LOOP_LEVEL))
		e |= (uint32_t)EPOLLET;
	return e;
}

static unsigned from_epoll(uint32_t e)
{
	unsigned events = 0;

	if (e & EPOLLIN)
		events |= LOOP_READ;
	if (e & EPOLLOUT)
		events |= LOOP_WRITE;
	if (e & EPOLLRDHUP)
		events |= LOOP_READ | LOOP_HANGUP;
	if (e & (EPOLLHUP | EPOLLERR))
		events |= LOOP_READ | LOOP_WRITE | LOOP_HANGUP | LOOP_GONE;
	return events;
}

int loop_watch_add(struct loop *loop, struct loop_watch *watch, int fd, unsigned events, loop_watch_fn *fn, void *arg)
{
	struct epoll_event e = {.events = to_epoll(events), .data.ptr = watch};

	if (watch->loop)
		return -EBUSY;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &e) < 0)
		return -errno;
	*watch = (struct loop_watch){loop, fn, arg, fd};
	return 0;
}

int loop_watch_change(struct loop_watch *watch, unsigned events)
{
	struct epoll_event e = {.events = to_epoll(events), .data.ptr = watch};

	if (!watch->loop)
		return -EINVAL;
	return epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &e) < 0 ? -errno : 0;
}

void loop_watch_remove(struct loop_watch *watch)
{
	struct loop *loop = watch->loop;
	int i;

	if (!loop)
		return;
	/* Never left to close(): the open file may live on in another process that it was passed to. */
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	for (i = loop->batch_at; i < loop->batch_n; i++)
		if (loop->batch[i].data.ptr == watch)
			loop->batch[i].data.ptr = NULL;
	watch->loop = NULL;
}

static void run_events(struct loop *loop)
{
	while (loop->batch_at < loop->batch_n) {
		const struct epoll_event *e = &loop->batch[loop->batch_at++];
		struct loop_watch *watch = e->data.ptr;

		if (watch)
			watch->fn(watch->arg, from_epoll(e->events));
	}
}

/* Timers. */

void loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t delay, loop_fn *fn, void *arg)
{
	/* A timer that a timer sets fires in a later iteration: two that set each other must not keep events waiting.
	 */
	int64_t least = loop->in_timers ? 1 : 0, due;

	if (delay < least)
		delay = least;
	due = delay > INT64_MAX - loop->now ? INT64_MAX : loop->now + delay;
	timer->fn = fn;
	timer->arg = arg;
	timer->due = due;
	if (timer->loop && due >= timer->key)
		return;
	if (timer->loop)
		heap_remove(&loop->timers, timer);
	timer->loop = loop;
	timer->key = due;
	heap_add(&loop->timers, timer);
}

void loop_timer_cancel(struct loop_timer *timer)
{
	if (!timer->loop)
		return;
	heap_remove(&timer->loop->timers, timer);
	timer->loop = NULL;
}

static void run_timers(struct loop *loop)
{
	struct loop_timer *timer;

	loop->in_timers = true;
	while ((timer = loop->timers) && timer->key <= loop->now) {
		heap_remove(&loop->timers, timer);
		if (timer->due > loop->now) {
			timer->key = timer->due;
			heap_add(&loop->timers, timer);
			continue;
		}
		timer->loop = NULL;
		timer->fn(timer->arg);
	}
	loop->in_timers = false;
}

/* Tasks. */

void loop_task_post(struct loop *loop, struct loop_task *task, loop_fn *fn, void *arg)
{
	bool posted = task->fn;

	task->fn = fn;
	task->arg = arg;
	if (posted)
		return;
	task->next = &loop->tasks;
	task->prev = loop->tasks.prev;
	task->prev->next = task;
	loop->tasks.prev = task;
}

void loop_task_cancel(struct loop_task *task)
{
	if (!task->fn)
		return;
	task->prev->next = task->next;
	task->next->prev = task->prev;
	task->fn = NULL;
}

static void run_tasks(struct loop *loop)
{
	struct loop_task *task;
	loop_fn *fn;

	if (loop->tasks.next == &loop->tasks)
		return;
	loop->due = loop->tasks;
	loop->due.next->prev = loop->due.prev->next = &loop->due;
	loop->tasks.next = loop->tasks.prev = &loop->tasks;
	while ((task = loop->due.next) != &loop->due) {
		fn = task->fn;
		loop_task_cancel(task);
		fn(task->arg);
	}
}

static int wait_ms(const struct loop *loop, int max_wait)
{
	int64_t wait;

	if (loop->tasks.next != &loop->tasks)
		return 0;
	if (!loop->timers)
		return max_wait;
	wait = loop->timers->key - loop->now;
	if (wait < 0)
		wait = 0;
	if (max_wait >= 0 && wait > max_wait)
		return max_wait;
	return wait > INT_MAX ? INT_MAX : (int)wait;
}

int loop_step(struct loop *loop, int max_wait)
{
	int n;

	n = epoll_wait(loop->epoll_fd, loop->batch, BATCH, wait_ms(loop, max_wait));
	if (n < 0 && errno != EINTR)
		return -errno;
	loop->batch_at = 0;
	loop->batch_n = n < 0 ? 0 : n;
	loop->now = clock_ms();
	run_events(loop);
	run_timers(loop);
	run_tasks(loop);
	return 0;
}

int loop_run(struct loop *loop)
{
	int r;

	loop->stopped = false;
	while (!loop->stopped) {
		r = loop_step(loop, -1);
		if (r < 0)
			return r;
	}
	return 0;
}
