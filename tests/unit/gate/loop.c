#include "check.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop/loop.h"

struct seen {
	struct loop *loop;
	struct loop_watch watch;
	struct loop_timer timer;
	struct loop_task task;
	struct seen *other;
	int fds[2];
	int calls;
	unsigned events;
	int64_t at;
};

static void seen_init(struct seen *s, struct loop *loop)
{
	*s = (struct seen){.loop = loop};
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, s->fds) == 0);
}

static void seen_done(struct seen *s)
{
	loop_watch_remove(&s->watch);
	loop_timer_cancel(&s->timer);
	loop_task_cancel(&s->task);
	close(s->fds[0]);
	if (s->fds[1] >= 0)
		close(s->fds[1]);
}

static void note(void *arg, unsigned events)
{
	struct seen *s = arg;

	s->calls++;
	s->events = events;
}

static void note_time(void *arg)
{
	struct seen *s = arg;

	s->calls++;
	s->at = loop_now(s->loop);
}

static void an_edge_is_reported_once_and_a_level_as_long_as_it_holds(void)
{
	struct loop *loop = loop_new();
	struct seen edge, level;

	seen_init(&edge, loop);
	seen_init(&level, loop);
	CHECK(loop_watch_add(loop, &edge.watch, edge.fds[0], LOOP_READ, note, &edge) == 0);
	CHECK(loop_watch_add(loop, &level.watch, level.fds[0], LOOP_READ | LOOP_LEVEL, note, &level) == 0);
	CHECK(loop_watch_add(loop, &level.watch, level.fds[0], LOOP_READ, note, &level) == -EBUSY);
	CHECK(write(edge.fds[1], "x", 1) == 1 && write(level.fds[1], "x", 1) == 1);
	loop_step(loop, 0);
	loop_step(loop, 0);
	CHECK(edge.calls == 1 && edge.events == LOOP_READ);
	CHECK(level.calls == 2);
	CHECK(loop_watch_change(&edge.watch, LOOP_READ | LOOP_WRITE) == 0);
	loop_step(loop, 0);
	CHECK(edge.calls == 2 && edge.events == (LOOP_READ | LOOP_WRITE));
	seen_done(&edge);
	seen_done(&level);
	loop_free(loop);
}

static void an_end_and_a_hangup_are_told_apart(void)
{
	struct loop *loop = loop_new();
	struct seen s;

	seen_init(&s, loop);
	CHECK(loop_watch_add(loop, &s.watch, s.fds[0], LOOP_READ, note, &s) == 0);
	CHECK(shutdown(s.fds[1], SHUT_WR) == 0);
	loop_step(loop, 0);
	CHECK(s.events == (LOOP_READ | LOOP_HANGUP));
	close(s.fds[1]);
	s.fds[1] = -1;
	loop_step(loop, 0);
	CHECK(s.events & LOOP_GONE && s.events & LOOP_WRITE);
	seen_done(&s);
	loop_free(loop);
}

static void remove_other(void *arg, unsigned events)
{
	struct seen *s = arg;

	(void)events;
	s->calls++;
	loop_watch_remove(&s->watch);
	loop_watch_remove(&s->other->watch);
}

static void a_removed_watch_is_not_called_though_its_event_is_in_the_batch(void)
{
	struct loop *loop = loop_new();
	struct seen a, b;

	seen_init(&a, loop);
	seen_init(&b, loop);
	a.other = &b;
	b.other = &a;
	loop_watch_add(loop, &a.watch, a.fds[0], LOOP_READ, remove_other, &a);
	loop_watch_add(loop, &b.watch, b.fds[0], LOOP_READ, remove_other, &b);
	CHECK(write(a.fds[1], "x", 1) == 1 && write(b.fds[1], "x", 1) == 1);
	loop_step(loop, 0);
	CHECK(a.calls + b.calls == 1);
	CHECK(!loop_watch_active(&a.watch) && !loop_watch_active(&b.watch));
	loop_step(loop, 0);
	CHECK(a.calls + b.calls == 1);
	seen_done(&a);
	seen_done(&b);
	loop_free(loop);
}

static void a_timer_fires_once_and_not_before_its_time(void)
{
	struct loop *loop = loop_new();
	struct seen s = {.loop = loop, .fds = {-1, -1}};
	int64_t start = loop_now(loop);

	loop_timer_set(loop, &s.timer, 20, note_time, &s);
	while (!s.calls)
		loop_step(loop, -1);
	CHECK(s.at >= start + 20 && !loop_timer_armed(&s.timer));
	loop_step(loop, 5);
	CHECK(s.calls == 1);
	loop_free(loop);
}

static void a_timer_moves_both_ways_and_can_be_cancelled(void)
{
	struct loop *loop = loop_new();
	struct seen late = {.loop = loop}, early = {.loop = loop}, never = {.loop = loop};
	int64_t start = loop_now(loop);

	loop_timer_set(loop, &late.timer, 1, note_time, &late);
	loop_timer_set(loop, &late.timer, 30, note_time, &late);
	loop_timer_set(loop, &early.timer, 100000, note_time, &early);
	loop_timer_set(loop, &early.timer, 2, note_time, &early);
	loop_timer_set(loop, &never.timer, 3, note_time, &never);
	loop_timer_cancel(&never.timer);
	loop_timer_cancel(&never.timer);
	while (!late.calls)
		loop_step(loop, -1);
	CHECK(late.at >= start + 30 && early.at >= start + 2 && early.at <= late.at);
	CHECK(early.calls == 1 && never.calls == 0);
	loop_free(loop);
}

static void set_again(void *arg)
{
	struct seen *s = arg;

	if (++s->calls < 3)
		loop_timer_set(s->loop, &s->timer, -5, set_again, s);
}

static void a_timer_that_sets_itself_does_not_keep_events_waiting(void)
{
	struct loop *loop = loop_new();
	struct seen s = {.loop = loop};

	loop_timer_set(loop, &s.timer, 0, set_again, &s);
	loop_step(loop, 0);
	CHECK(s.calls == 1);
	while (s.calls < 3)
		loop_step(loop, -1);
	CHECK(!loop_timer_armed(&s.timer));
	loop_free(loop);
}

enum { MANY = 10000 };

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 8;
}

static void ten_thousand_timers_fire_in_order_whatever_was_moved_or_cancelled(void)
{
	struct loop *loop = loop_new();
	struct seen *v = calloc(MANY, sizeof(*v));
	unsigned state = 7;
	int fired = 0, wanted = 0, i;

	if (!v || !loop)
		abort();
	for (i = 0; i < MANY; i++) {
		v[i].loop = loop;
		loop_timer_set(loop, &v[i].timer, next_random(&state) % 50, note_time, &v[i]);
	}
	for (i = 0; i < 3 * MANY; i++) {
		struct seen *s = &v[next_random(&state) % MANY];

		if (next_random(&state) % 4)
			loop_timer_set(loop, &s->timer, next_random(&state) % 50, note_time, s);
		else
			loop_timer_cancel(&s->timer);
	}
	for (i = 0; i < MANY; i++) {
		wanted += loop_timer_armed(&v[i].timer);
		v[i].events = loop_timer_armed(&v[i].timer);
	}
	for (i = 0; i < 60; i++) {
		usleep(1000);
		loop_step(loop, 0);
	}
	for (i = 0; i < MANY; i++) {
		fired += v[i].calls;
		CHECK((unsigned)v[i].calls == v[i].events);
		CHECK(!v[i].calls || v[i].at >= v[i].timer.due);
		CHECK(!loop_timer_armed(&v[i].timer));
	}
	CHECK(fired == wanted && wanted > MANY / 2);
	free(v);
	loop_free(loop);
}

static void post_again(void *arg)
{
	struct seen *s = arg;

	s->calls++;
	loop_task_post(s->loop, &s->task, post_again, s);
}

static void cancel_other(void *arg)
{
	struct seen *s = arg;

	s->calls++;
	loop_task_cancel(&s->other->task);
}

static void free_me(void *arg)
{
	free(arg);
}

static void a_task_runs_once_per_posting_and_one_posted_by_a_task_runs_next_time(void)
{
	struct loop *loop = loop_new();
	struct seen again = {.loop = loop}, a = {.loop = loop}, b = {.loop = loop};
	struct seen *own = calloc(1, sizeof(*own));

	a.other = &b;
	b.other = &a;
	loop_task_post(loop, &again.task, post_again, &again);
	loop_task_post(loop, &again.task, post_again, &again);
	loop_task_post(loop, &a.task, cancel_other, &a);
	loop_task_post(loop, &b.task, cancel_other, &b);
	if (own)
		loop_task_post(loop, &own->task, free_me, own);
	loop_step(loop, -1);
	CHECK(again.calls == 1);
	CHECK(a.calls == 1 && b.calls == 0);
	loop_step(loop, -1);
	CHECK(again.calls == 2);
	loop_task_cancel(&again.task);
	loop_step(loop, 0);
	CHECK(again.calls == 2);
	loop_free(loop);
}

static void stop(void *arg)
{
	struct seen *s = arg;

	loop_stop(s->loop);
	loop_task_post(s->loop, &s->task, note_time, s);
}

static void a_stopped_loop_still_runs_the_tasks_of_its_iteration(void)
{
	struct loop *loop = loop_new();
	struct seen s = {.loop = loop};

	loop_timer_set(loop, &s.timer, 1, stop, &s);
	CHECK(loop_run(loop) == 0);
	CHECK(s.calls == 1);
	loop_free(loop);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_edge_is_reported_once_and_a_level_as_long_as_it_holds),
		CASE(an_end_and_a_hangup_are_told_apart),
		CASE(a_removed_watch_is_not_called_though_its_event_is_in_the_batch),
		CASE(a_timer_fires_once_and_not_before_its_time),
		CASE(a_timer_moves_both_ways_and_can_be_cancelled),
		CASE(a_timer_that_sets_itself_does_not_keep_events_waiting),
		CASE(ten_thousand_timers_fire_in_order_whatever_was_moved_or_cancelled),
		CASE(a_task_runs_once_per_posting_and_one_posted_by_a_task_runs_next_time),
		CASE(a_stopped_loop_still_runs_the_tasks_of_its_iteration),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
