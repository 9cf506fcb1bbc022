#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "check.h"
#include "supervise/outbox.h"
#include "wire/wire.h"

enum { TYPE = 3, PLENTY = 100000 };

struct world {
	int near, far;
	struct outbox out;
};

static void world_init(struct world *w)
{
	int pair[2] = {-1, -1};

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	w->near = pair[0];
	w->far = pair[1];
	outbox_init(&w->out, w->near);
}

static void world_done(struct world *w)
{
	(void)close(w->near);
	(void)close(w->far);
}

static int say(struct world *w, uint64_t number, const int *fds, size_t n)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, number);
	return outbox_send(&w->out, TYPE, &b, fds, n);
}

/* How many were taken, all that wait included. */
static uint64_t say_until_refused(struct world *w)
{
	uint64_t n = 0;

	while (n < PLENTY && say(w, n, NULL, 0) == 0)
		n++;
	return n;
}

static bool hear(struct world *w, uint64_t number)
{
	struct wire_message m;
	struct wire_in in;
	bool ok = wire_receive(w->far, &m) == 1 && m.type == TYPE;

	wire_in_init(&in, buf_view(&m.body));
	ok = ok && wire_get_u64(&in) == number && wire_ok(&in);
	wire_message_done(&m);
	return ok;
}

static void who_does_not_read_is_not_waited_for(void)
{
	struct world w;
	uint64_t n;

	world_init(&w);
	n = say_until_refused(&w);
	CHECK(n > OUTBOX_MAX && n < PLENTY);
	CHECK(say(&w, n, NULL, 0) == -ENOBUFS);
	CHECK(outbox_waits(&w.out));
	world_done(&w);
}

static void what_waited_arrives_in_its_order(void)
{
	uint64_t n, i;
	struct world w;

	world_init(&w);
	n = say_until_refused(&w);
	for (i = 0; i < n; i++) {
		CHECK(hear(&w, i));
		outbox_flush(&w.out);
	}
	CHECK(!outbox_waits(&w.out));
	CHECK(say(&w, n, NULL, 0) == 0 && hear(&w, n));
	world_done(&w);
}

static void descriptors_do_not_wait(void)
{
	struct world w;

	world_init(&w);
	CHECK(say(&w, 0, &w.far, 1) == 0 && hear(&w, 0));
	(void)say_until_refused(&w);
	CHECK(say(&w, 0, &w.far, 1) == -EAGAIN);
	world_done(&w);
}

static void nothing_overtakes_what_waits(void)
{
	struct world w;
	uint64_t n = 1;

	world_init(&w);
	(void)say(&w, 0, NULL, 0);
	while (n < PLENTY && !outbox_waits(&w.out) && say(&w, n, NULL, 0) == 0)
		n++;
	CHECK(hear(&w, 0)); /* there is room again */
	CHECK(say(&w, 0, &w.far, 1) == -EAGAIN);
	world_done(&w);
}

static void it_is_stuck_when_nothing_is_taken_for_long(void)
{
	uint64_t now = (uint64_t)now_ms();
	struct world w;

	world_init(&w);
	CHECK(outbox_until(&w.out) == UINT64_MAX && !outbox_is_stuck(&w.out, now + PLENTY));
	(void)say_until_refused(&w);
	CHECK(!outbox_is_stuck(&w.out, now));
	CHECK(outbox_until(&w.out) >= now + OUTBOX_STUCK_MS);
	CHECK(outbox_is_stuck(&w.out, outbox_until(&w.out)));
	world_done(&w);
}

static void whose_other_side_is_gone_keeps_nothing(void)
{
	struct world w;

	world_init(&w);
	(void)say_until_refused(&w);
	(void)close(w.far);
	outbox_flush(&w.out);
	CHECK(!outbox_waits(&w.out));
	CHECK(say(&w, 0, NULL, 0) < 0);
	(void)close(w.near);
}

int main(void)
{
	const struct check_case cases[] = {
		CASE(who_does_not_read_is_not_waited_for),
		CASE(what_waited_arrives_in_its_order),
		CASE(descriptors_do_not_wait),
		CASE(nothing_overtakes_what_waits),
		CASE(it_is_stuck_when_nothing_is_taken_for_long),
		CASE(whose_other_side_is_gone_keeps_nothing),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
