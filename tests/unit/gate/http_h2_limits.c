/* A raw peer that wants too much, or never reads: floods, resets, windows. */
#include "http_h2_rig.h"

static void continuations_do_not_go_on_for_ever(void)
{
	struct end e;
	int i;

	server_init(&e, &server_config);
	frame(&e.raw, HEADERS, 0, 1, "", 0);
	for (i = 0; i < 100; i++)
		frame(&e.raw, CONTINUATION, 0, 1, "", 0);
	(void)feed(&e);
	{
		AUTO_FREE char *got = sent(&e);

		CHECK(strstr(got, "GOAWAY") || strstr(got, "failed"));
		CHECK(h2_over(e.h));
	}
	end_done(&e);
}

static void floods_of_frames_that_carry_nothing_end_the_connection(void)
{
	static const struct {
		int type, flags;
		uint32_t id;
		const char *payload;
		size_t n;
	} cases[] = {
		{PING, 0, 0, "12345678", 8},
		{PING, ACK, 0, "12345678", 8},
		{SETTINGS, 0, 0, "", 0},
		{PRIORITY, 0, 3, "\0\0\0\0\1", 5},
		{WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4},
		{WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4},
		{DATA, 0, 1, "", 0},
		{DATA, PADDED, 1, "\1\0", 2},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct end e;

		server_init(&e, &server_config);
		raw_headers(&e, 1, 0, post);
		CHECK(feed(&e) == 0);
		frame(&e.raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].n);
		CHECK(!ends_after(&e, 900));
		frame(&e.raw, cases[i].type, cases[i].flags, cases[i].id, cases[i].payload, cases[i].n);
		CHECK(ends_after(&e, 200));
		CHECK(sends(&e, "GOAWAY 0 code 11\n"));
		CHECK(h2_over(e.h));
		end_done(&e);
	}
}

static void a_slow_ping_is_no_flood(void)
{
	struct end e;
	int i;

	server_init(&e, &server_config);
	for (i = 0; i < 5000; i++) {
		e.now += 1000;
		frame(&e.raw, PING, 0, 0, "12345678", 8);
		CHECK(feed(&e) == 0);
		free(sent(&e));
	}
	end_done(&e);
}

static void resetting_what_was_not_answered_has_a_limit(void)
{
	static const char codes[] = {H2_NO_ERROR, H2_CANCEL, 0x42};
	size_t i;

	for (i = 0; i < sizeof(codes); i++) {
		const char code[] = {0, 0, 0, codes[i]};
		bool over = false;
		struct end e;
		uint32_t id;

		server_init(&e, &server_config);
		for (id = 1; id < 2 * 1000 && !over; id += 2) {
			raw_headers(&e, id, END_STREAM, get);
			frame(&e.raw, RST_STREAM, 0, id, code, sizeof(code));
			over = feed(&e) < 0;
		}
		CHECK(over && e.requests > 100 && e.requests <= 201 && e.open == 0);
		CHECK(sends(&e, "code 11\n"));
		end_done(&e);
	}
}

static void making_us_reset_has_the_same_limit(void)
{
	struct end e;
	uint32_t id;
	bool over = false;

	/* Each stream is opened well and then broken, so that the reset is ours. */
	server_init(&e, &server_config);
	for (id = 1; id < 2 * 1000 && !over; id += 2) {
		raw_headers(&e, id, 0, post);
		frame(&e.raw, WINDOW_UPDATE, 0, id, "\0\0\0\0", 4);
		over = feed(&e) < 0;
		free(sent(&e));
	}
	over = over || h2_over(e.h);
	CHECK(over && e.requests <= 201);
	end_done(&e);
}

static void cancelling_what_was_answered_is_fine(void)
{
	struct http_response yes = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct end e;
	uint32_t id;

	server_init(&e, &server_config);
	e.answer = &yes;
	for (id = 1; id < 2 * 3000; id += 2) {
		raw_headers(&e, id, END_STREAM, get);
		CHECK(feed(&e) == 0);
		CHECK(sends(&e, "HEADERS"));
		frame(&e.raw, RST_STREAM, 0, id, "\0\0\0\10", 4);
		CHECK(feed(&e) == 0);
	}
	CHECK(e.open == 0);
	end_done(&e);
}

static void streams_at_once_are_limited(void)
{
	struct end e;
	uint32_t id;

	server_init(&e, &server_config);
	for (id = 1; id < 2 * H2_MAX_STREAMS; id += 2)
		raw_headers(&e, id, END_STREAM, get);
	CHECK(feed(&e) == 0);
	CHECK(e.open == H2_MAX_STREAMS);
	raw_headers(&e, id, END_STREAM, get);
	(void)feed(&e);
	CHECK(e.open == H2_MAX_STREAMS);
	CHECK(sends(&e, "GOAWAY"));
	end_done(&e);
	/* Who has not seen the limit yet is told to try again. */
	end_init(&e, &server_config);
	buf_str(&e.raw, preface);
	frame(&e.raw, SETTINGS, 0, 0, NULL, 0);
	for (id = 1; id <= 2 * H2_MAX_STREAMS + 1; id += 2)
		raw_headers(&e, id, END_STREAM, get);
	CHECK(feed(&e) == 0);
	CHECK(e.open == H2_MAX_STREAMS);
	CHECK(sends(&e, "RST_STREAM 201 code 7\n"));
	end_done(&e);
}

static void a_peer_that_never_reads_is_cut_off(void)
{
	struct end e;
	uint32_t id;
	bool over = false;

	end_init(&e, &server_config);
	buf_str(&e.raw, preface);
	frame(&e.raw, SETTINGS, 0, 0, NULL, 0);
	for (id = 1; id < 100000 && !over; id += 2) {
		raw_headers(&e, id, END_STREAM, get);
		over = feed(&e) < 0;
		e.now += 100;
	}
	CHECK(over && id < 2 * 4000);
	end_done(&e);
}

static void nonsense_ends_the_connection(void)
{
	static const char *const starts[] = {"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
					     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nXXXXXXXXXXXXXXXXXXXXXX"};
	struct end e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(starts); i++) {
		end_init(&e, &server_config);
		buf_str(&e.raw, starts[i]);
		(void)feed(&e);
		free(sent(&e));
		CHECK(h2_over(e.h));
		end_done(&e);
	}
	/* Frames of a size or on a stream that they cannot have. */
	server_init(&e, &server_config);
	frame(&e.raw, DATA, 0, 0, "x", 1);
	(void)feed(&e);
	CHECK(sends(&e, "GOAWAY 0 code 1\n"));
	CHECK(h2_over(e.h));
	end_done(&e);
}

static void a_stream_that_nobody_reads_stops_its_peer(void)
{
	static const struct h2_config small = {
		.server = true, .tls = true, .host = {"example.com", 11}, .port = 443, .window = 65535};
	char block[16384];
	struct end e;
	int i;

	memset(block, 'x', sizeof(block));
	server_init(&e, &small);
	e.hold = e.quiet = true;
	raw_headers(&e, 1, 0, post);
	for (i = 0; i < 3; i++)
		frame(&e.raw, DATA, 0, 1, block, sizeof(block));
	CHECK(feed(&e) == 0);
	CHECK(e.got == 3 * sizeof(block));
	/* Past the window: not given to anyone. */
	frame(&e.raw, DATA, 0, 1, block, sizeof(block));
	(void)feed(&e);
	CHECK(e.got <= 65535);
	CHECK(sends(&e, "code 3\n"));
	end_done(&e);
	/* Consumed, the same is fine. */
	server_init(&e, &small);
	e.quiet = true;
	raw_headers(&e, 1, 0, post);
	CHECK(feed(&e) == 0);
	for (i = 0; i < 64; i++) {
		frame(&e.raw, DATA, 0, 1, block, sizeof(block));
		CHECK(feed(&e) == 0);
		free(sent(&e));
	}
	CHECK(e.got == 64 * sizeof(block) && e.open == 1);
	end_done(&e);
}

static void bytes_of_dead_streams_do_not_close_the_connections_window(void)
{
	static const struct h2_config small = {
		.server = true, .tls = true, .host = {"example.com", 11}, .port = 443, .window = 65535};
	struct http_response yes = {.status = 200, .length = HTTP_LENGTH_UNKNOWN};
	char block[16384];
	struct end e;
	uint32_t id;

	memset(block, 'x', sizeof(block));
	server_init(&e, &small);
	e.hold = e.quiet = true;
	e.answer = &yes;
	/* More in sum than all windows together. */
	for (id = 1; id < 2 * 200; id += 2) {
		raw_headers(&e, id, 0, post);
		frame(&e.raw, DATA, 0, id, block, sizeof(block));
		CHECK(feed(&e) == 0);
		CHECK(sends(&e, "last\nRST_STREAM"));
	}
	CHECK(e.got == 200 * sizeof(block) && e.open == 0);
	end_done(&e);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(continuations_do_not_go_on_for_ever),
		CASE(floods_of_frames_that_carry_nothing_end_the_connection),
		CASE(a_slow_ping_is_no_flood),
		CASE(resetting_what_was_not_answered_has_a_limit),
		CASE(making_us_reset_has_the_same_limit),
		CASE(cancelling_what_was_answered_is_fine),
		CASE(streams_at_once_are_limited),
		CASE(a_peer_that_never_reads_is_cut_off),
		CASE(nonsense_ends_the_connection),
		CASE(a_stream_that_nobody_reads_stops_its_peer),
		CASE(bytes_of_dead_streams_do_not_close_the_connections_window),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
