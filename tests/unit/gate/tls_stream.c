/* What a stream carries, with TLS and without: whole, in order, and to its end. */
#include "tls_rig.h"

/* Carries bytes between two sockets one at a time. */
struct drip {
	int fds[2][2]; /* [direction][from, to] */
	struct loop *loop;
	struct loop_task task;
	int idle;
};

static void drip_some(void *arg)
{
	struct drip *d = arg;
	char c;
	int i;

	for (i = 0; i < 2; i++)
		if (recv(d->fds[i][0], &c, 1, MSG_DONTWAIT) == 1)
			must(send(d->fds[i][1], &c, 1, 0) == 1, "drip");
	loop_task_post(d->loop, &d->task, drip_some, d);
}

static void a_handshake_and_data_survive_delivery_byte_by_byte(void)
{
	struct world w;
	struct drip d = {0};
	int a[2], b[2], i;

	world_init(&w);
	unix_pair(a);
	unix_pair(b);
	must(stream_new(w.loop, a[0], on_stream, &w.a, &w.a.stream) == 0 &&
		     stream_new(w.loop, b[0], on_stream, &w.b, &w.b.stream) == 0,
	     "stream");
	d = (struct drip){.fds = {{a[1], b[1]}, {b[1], a[1]}}, .loop = w.loop};
	drip_some(&d);
	secure(&w, "a.test", "a.test");
	w.a.out = sv_of("request");
	w.b.out = sv_of("answer");
	w.a.finish = w.b.finish = true;
	for (i = 0; i < 20000 && !(w.a.in.n == 6 && w.b.in.n == 7); i++)
		loop_step(w.loop, 1);
	CHECK(side_got(&w.b, "request") && side_got(&w.a, "answer"));
	loop_task_cancel(&d.task);
	close(a[1]);
	close(b[1]);
	world_done(&w);
}

static void sniffed_bytes_that_are_given_back_reach_the_engine(void)
{
	char sniffed[4096];
	struct world w;
	ssize_t n = -EAGAIN;
	int i;

	for (i = 0; i < 3; i++) {
		world_init(&w);
		join(&w, unix_pair);
		w.b.stopped = true;
		CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
		n = stream_read(w.b.stream, sniffed, sizeof(sniffed));
		CHECK(n > 100);
		if (n > 100) {
			/* as a whole, and in two pieces, the later one first */
			CHECK(stream_unread(w.b.stream, sv_n(sniffed + 50 * i, (size_t)n - 50 * (size_t)i)) == 0);
			CHECK(stream_unread(w.b.stream, sv_n(sniffed, 50 * (size_t)i)) == 0);
		}
		w.b.stopped = false;
		serve(&w, new_leaf(w.ca, "a.test"), ALPN_H1);
		bytes_pass_both_ways(&w);
		CHECK(stream_unread(w.b.stream, sv_of("x")) == -EINVAL);
		world_done(&w);
	}
}

static void given_back_bytes_leave_with_the_socket(void)
{
	AUTO_BUF unread = {0};
	char room[8];
	struct world w;
	AUTO_FD fd = -1;

	world_init(&w);
	join(&w, unix_pair);
	w.b.stopped = true;
	CHECK(stream_write(w.a.stream, "abcdef", 6) == 6);
	CHECK(stream_read(w.b.stream, room, 4) == 4);
	CHECK(stream_unread(w.b.stream, sv_n(room, 4)) == 0);
	CHECK(stream_read(w.b.stream, room, 1) == 1 && room[0] == 'a');
	buf_init(&unread, 100);
	fd = stream_take_fd(w.b.stream, &unread);
	w.b.stream = NULL;
	CHECK(fd >= 0 && sv_is(buf_view(&unread), "bcd"));
	CHECK(read(fd, room, sizeof(room)) == 2);
	world_done(&w);
}

enum { LARGE = 6 << 20 };

static char *large_text(void)
{
	char *p = malloc(LARGE);
	unsigned state = 1;
	size_t i;

	must(p, "memory");
	for (i = 0; i < LARGE; i++) {
		state = state * 1103515245u + 12345u;
		p[i] = (char)(state >> 16);
	}
	return p;
}

static void transfer(void (*pair)(int fds[2]), bool tls, size_t chunk)
{
	AUTO_FREE char *text = large_text();
	struct world w;
	int i;

	world_init(&w);
	join(&w, pair);
	w.a.out = w.b.out = sv_n(text, LARGE);
	w.a.chunk = w.b.chunk = chunk;
	w.a.finish = w.b.finish = true;
	if (tls) {
		secure(&w, "a.test", "a.test");
	} else {
		write_out(&w.a);
		write_out(&w.b);
	}
	for (i = 0; i < 100000 && !((w.a.ended || w.a.read_failed) && (w.b.ended || w.b.read_failed)); i++)
		loop_step(w.loop, 1000);
	CHECK(w.a.ended && w.b.ended && !w.a.failed && !w.b.failed);
	CHECK(w.a.in.n == LARGE && memcmp(w.a.in.p, text, LARGE) == 0);
	CHECK(w.b.in.n == LARGE && memcmp(w.b.in.p, text, LARGE) == 0);
	world_done(&w);
}

static void large_transfers_both_ways_at_once_arrive_whole(void)
{
	transfer(unix_pair, false, 0);
	transfer(tcp_pair, false, 0);
	transfer(unix_pair, true, 0);
	transfer(tcp_pair, true, 0);
	transfer(unix_pair, true, 777);
	transfer(tcp_pair, true, 100000);
}

static void a_writer_is_held_back_by_a_reader_that_does_not_read(void)
{
	AUTO_FREE char *text = large_text();
	struct world w;
	size_t left;
	int i;

	world_init(&w);
	join(&w, unix_pair);
	w.b.stopped = true;
	secure(&w, "a.test", "a.test");
	w.a.out = sv_n(text, LARGE);
	settle(&w);
	left = w.a.out.n;
	CHECK(w.a.open && left > LARGE / 2);
	CHECK(stream_write(w.a.stream, "x", 1) == -EAGAIN);
	settle(&w);
	CHECK(w.a.out.n == left);
	w.b.stopped = false;
	stream_resume(w.b.stream, STREAM_READ);
	for (i = 0; i < 100000 && w.b.in.n < LARGE; i++)
		loop_step(w.loop, 1000);
	CHECK(w.b.in.n == LARGE && memcmp(w.b.in.p, text, LARGE) == 0);
	world_done(&w);
}

static void pieces_of_an_iovec_arrive_in_order(void)
{
	AUTO_FREE char *text = large_text();
	char head[] = "head", middle[] = "";
	struct iovec v[] = {{head, 4}, {middle, 0}, {text, 40000}, {head, 4}};
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	secure(&w, "a.test", "a.test");
	settle(&w);
	CHECK(stream_writev(w.a.stream, v, 4) == 40008);
	settle(&w);
	CHECK(w.b.in.n == 40008 && memcmp(w.b.in.p, "head", 4) == 0 && memcmp(w.b.in.p + 4, text, 40000) == 0 &&
	      memcmp(w.b.in.p + 40004, "head", 4) == 0);
	world_done(&w);
}

static void one_direction_can_end_while_the_other_goes_on(void)
{
	struct world w;
	int tls;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, tcp_pair);
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		CHECK(stream_write(w.a.stream, "request", 7) == 7);
		stream_finish(w.a.stream);
		CHECK(stream_write(w.a.stream, "x", 1) == -EIO);
		settle(&w);
		CHECK(side_got(&w.b, "request") && w.b.ended && w.b.hangup);
		CHECK(stream_write(w.b.stream, "answer", 6) == 6);
		stream_finish(w.b.stream);
		settle(&w);
		CHECK(side_got(&w.a, "answer") && w.a.ended);
		CHECK(stream_failure(w.a.stream) == STREAM_FINE && stream_failure(w.b.stream) == STREAM_FINE);
		world_done(&w);
	}
}

static void an_end_that_tls_did_not_announce_is_not_taken_for_one(void)
{
	struct world w;

	world_init(&w);
	join(&w, tcp_pair);
	secure(&w, "a.test", "a.test");
	w.b.out = sv_of("half an ans");
	settle(&w);
	CHECK(shutdown(stream_fd(w.b.stream), SHUT_WR) == 0);
	settle(&w);
	CHECK(side_got(&w.a, "half an ans") && !w.a.ended && w.a.read_failed);
	CHECK(stream_failure(w.a.stream) == STREAM_CUT);
	world_done(&w);
}

static void a_reset_is_told_as_one(void)
{
	struct linger at_once = {1, 0};
	struct world w;
	int tls;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, tcp_pair);
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		CHECK(setsockopt(stream_fd(w.b.stream), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0);
		stream_free(w.b.stream);
		w.b.stream = NULL;
		settle(&w);
		CHECK(w.a.read_failed && w.a.hangup && stream_failure(w.a.stream) == STREAM_RESET);
		CHECK(stream_write(w.a.stream, "x", 1) == -EIO);
		world_done(&w);
	}
}

static void a_peer_that_goes_in_the_middle_of_a_handshake_is_a_reset(void)
{
	struct world w;

	world_init(&w);
	join(&w, tcp_pair);
	CHECK(stream_tls_client(w.a.stream, w.client, sv_of("a.test"), ALPN_H1) == 0);
	stream_free(w.b.stream);
	w.b.stream = NULL;
	settle(&w);
	CHECK(w.a.failed == 1 && stream_failure(w.a.stream) == STREAM_RESET);
	world_done(&w);
}

/* A refusal is answered while the client still sends: a close() with unread bytes would reset the answer away. */
static void an_answer_before_a_close_arrives_though_the_request_was_not_read(void)
{
	AUTO_FREE char *text = large_text();
	struct world w;
	int tls, i;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, tcp_pair);
		w.b.stopped = true;
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		w.a.out = sv_n(text, 1 << 20);
		w.a.finish = true;
		write_out(&w.a);
		CHECK(stream_write(w.b.stream, "403", 3) == 3);
		stream_close(w.b.stream);
		w.b.stream = NULL;
		for (i = 0; i < 1000 && !w.a.ended && !w.a.read_failed; i++)
			loop_step(w.loop, 100);
		CHECK(side_got(&w.a, "403") && w.a.ended);
		settle(&w);
		world_done(&w);
	}
}

static void answers_are_read_though_writing_has_failed(void)
{
	struct world w;
	int tls;

	for (tls = 0; tls < 2; tls++) {
		world_init(&w);
		join(&w, unix_pair);
		if (tls)
			secure(&w, "a.test", "a.test");
		settle(&w);
		w.a.stopped = true;
		CHECK(stream_write(w.b.stream, "413", 3) == 3);
		stream_finish(w.b.stream);
		stream_free(w.b.stream);
		w.b.stream = NULL;
		CHECK(stream_write(w.a.stream, "body", 4) == -EIO);
		CHECK(stream_failure(w.a.stream) == STREAM_RESET);
		w.a.stopped = false;
		read_in(&w.a);
		settle(&w);
		CHECK(side_got(&w.a, "413") && w.a.ended);
		world_done(&w);
	}
}

static void a_hangup_is_told_to_a_user_who_does_not_read(void)
{
	struct world w;

	world_init(&w);
	join(&w, unix_pair);
	w.b.stopped = true;
	CHECK(stream_write(w.a.stream, "x", 1) == 1);
	settle(&w);
	CHECK(!w.b.hangup);
	stream_free(w.a.stream);
	w.a.stream = NULL;
	settle(&w);
	CHECK(w.b.hangup && !w.b.ended);
	world_done(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_handshake_and_data_survive_delivery_byte_by_byte),
		CASE(sniffed_bytes_that_are_given_back_reach_the_engine),
		CASE(given_back_bytes_leave_with_the_socket),
		CASE(large_transfers_both_ways_at_once_arrive_whole),
		CASE(a_writer_is_held_back_by_a_reader_that_does_not_read),
		CASE(pieces_of_an_iovec_arrive_in_order),
		CASE(one_direction_can_end_while_the_other_goes_on),
		CASE(an_end_that_tls_did_not_announce_is_not_taken_for_one),
		CASE(a_reset_is_told_as_one),
		CASE(a_peer_that_goes_in_the_middle_of_a_handshake_is_a_reset),
		CASE(an_answer_before_a_close_arrives_though_the_request_was_not_read),
		CASE(answers_are_read_though_writing_has_failed),
		CASE(a_hangup_is_told_to_a_user_who_does_not_read),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
