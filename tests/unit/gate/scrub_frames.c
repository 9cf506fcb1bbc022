#include "gate/egress/scrub_frames.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"

static const char key[] = "sk-test-Zm9v/bar+baz=0123456789";
static const char placeholder[] = "sk-placeholder";

static struct scrub *make(const char *secret)
{
	const struct scrub_pair pair = {sv_of(secret), sv_of(placeholder)};
	struct scrub *s = NULL;

	CHECK(scrub_new(&pair, 1, &s) == 0);
	return s;
}

/* A frame of a server: first has FIN and the opcode. */
static void put_frame(struct buf *out, unsigned first, struct sv payload)
{
	(void)buf_char(out, (char)first);
	if (payload.n < 126) {
		(void)buf_char(out, (char)payload.n);
	} else {
		(void)buf_char(out, 126);
		(void)buf_char(out, (char)(payload.n >> 8));
		(void)buf_char(out, (char)payload.n);
	}
	(void)buf_sv(out, payload);
}

/* In pieces of `piece` bytes. 0, or how it failed. */
static int scrub_all(struct scrub *s, struct sv in, size_t piece, struct buf *out, uint64_t *ret_hits)
{
	struct scrub_frames *t = scrub_frames_new(s);
	AUTO_FREE char *copy = malloc(in.n + 1);
	struct sv part;
	size_t at, n;
	int r = 0;

	memcpy(copy, in.p, in.n);
	for (at = 0; at < in.n && r == 0; at += n) {
		n = in.n - at < piece ? in.n - at : piece;
		r = scrub_frames_feed(t, copy + at, n, &part);
		if (r == 0)
			(void)buf_sv(out, part);
	}
	if (r == 0)
		r = scrub_frames_end(t, &part);
	if (r == 0)
		(void)buf_sv(out, part);
	*ret_hits = scrub_frames_hits(t);
	scrub_frames_free(t);
	return r;
}

/* The credential, cut in two or into single bytes, over frames of one message and over messages, with pings between. */
static void a_secret_split_over_frames_is_replaced(void)
{
	struct scrub *s = make(key);
	size_t cut, piece;
	unsigned form;
	uint64_t hits;

	for (form = 0; form < 3; form++) {
		for (cut = 1; cut < sizeof(key) - 1; cut++) {
			AUTO_BUF in = {0};
			AUTO_BUF want = {0};
			size_t i;

			buf_init(&in, 1 << 16);
			buf_init(&want, 1 << 16);
			put_frame(&in, 0x81, sv_of("a word"));
			put_frame(&in, form == 1 ? 0x81 : 0x01, sv_n(key, cut));
			put_frame(&in, 0x89, sv_of("ping"));
			if (form == 2)
				for (i = cut; key[i]; i++)
					put_frame(&in, 0x00, sv_n(key + i, 1));
			else
				put_frame(&in, form == 1 ? 0x82 : 0x80, sv_of(key + cut));
			put_frame(&in, 0x80, sv_of(" and more"));
			for (piece = 1; piece < 40; piece += 3) {
				AUTO_BUF out = {0};
				size_t k;

				buf_init(&out, 1 << 16);
				CHECK(scrub_all(s, buf_view(&in), piece, &out, &hits) == 0 && hits == 1);
				CHECK(out.n == in.n && !memmem(out.p, out.n, key, cut < 6 ? 6 : cut));
				/* headers, pings and all else are where they were */
				CHECK(memmem(out.p, out.n, "\x89\x04ping", 6) &&
				      memmem(out.p, out.n,
					     "\x81\x06"
					     "a word",
					     8) &&
				      memmem(out.p, out.n, " and more", 9));
				for (k = 0; k < in.n && k < out.n; k++)
					CHECK(in.p[k] == out.p[k] ||
					      (out.p[k] >= 0x21 && out.p[k] < 0x7f && in.p[k] >= 0x21));
			}
		}
	}
	scrub_unref(s);
}

static void a_secret_in_a_control_frame_is_replaced(void)
{
	struct scrub *s = make(key);
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};
	uint64_t hits;

	buf_init(&in, 4096);
	buf_init(&out, 4096);
	put_frame(&in, 0x01, sv_of("begin"));
	put_frame(&in, 0x8a, sv_of(key));
	put_frame(&in, 0x80, sv_of("end"));
	CHECK(scrub_all(s, buf_view(&in), 5, &out, &hits) == 0 && hits == 1);
	CHECK(out.n == in.n && !memmem(out.p, out.n, key, sizeof(key) - 1) && memmem(out.p, out.n, "begin\x8a", 6));
	scrub_unref(s);
}

/* What is looked at in a control frame: of a close, what stands behind its status. */
static void put_part(struct buf *out, unsigned first, struct sv text)
{
	AUTO_BUF payload = {0};

	buf_init(&payload, 4096);
	if (first == 0x88)
		(void)buf_sv(&payload, sv_n("\x03\xe8", 2));
	(void)buf_sv(&payload, text);
	put_frame(out, first, buf_view(&payload));
}

/* In a message and a control frame beside it, or in two of these. */
static void a_secret_split_over_control_frames_and_messages_is_replaced(void)
{
	static const unsigned pairs[][2] = {{0x89, 0x89}, {0x81, 0x89}, {0x89, 0x81}, {0x81, 0x88},
					    {0x8a, 0x89}, {0x89, 0x88}, {0x01, 0x89}};
	struct scrub *s = make(key);
	size_t i, cut, piece, k;
	uint64_t hits;

	for (i = 0; i < ARRAY_LEN(pairs); i++)
		for (cut = 1; cut < sizeof(key) - 1; cut++) {
			size_t rest = sizeof(key) - 1 - cut > 3 ? sizeof(key) - 1 - cut : 4;
			AUTO_BUF in = {0};

			buf_init(&in, 4096);
			put_part(&in, 0x81, sv_of("a word"));
			put_part(&in, 0x8a, sv_n("", 0));
			put_part(&in, pairs[i][0], sv_n(key, cut));
			put_part(&in, pairs[i][1], sv_of(key + cut));
			for (piece = 1; piece < 60; piece += 7) {
				AUTO_BUF out = {0};

				buf_init(&out, 4096);
				CHECK(scrub_all(s, buf_view(&in), piece, &out, &hits) == 0 && hits == 1);
				CHECK(out.n == in.n && !memmem(out.p, out.n, key, cut < 6 ? 6 : cut) &&
				      !memmem(out.p, out.n, key + sizeof(key) - 1 - rest, rest));
				for (k = 0; k < in.n && k < out.n; k++)
					CHECK(in.p[k] == out.p[k] ||
					      (out.p[k] >= 0x21 && out.p[k] < 0x7f && in.p[k] >= 0x21));
			}
		}
	scrub_unref(s);
}

/* A ping, which its server waits for, goes out when nothing else came, and with it the message before. */
static void control_frames_are_released_as_messages_are(void)
{
	struct scrub *s = make(key);
	struct scrub_frames *t = scrub_frames_new(s);
	char in[] = "\x81\x05" "hello" "\x89\x04" "ping";
	struct sv out;

	CHECK(scrub_frames_feed(t, in, sizeof(in) - 1, &out) == 0 && !memmem(out.p, out.n, "ping", 4));
	CHECK(scrub_frames_waits(t) && scrub_frames_are_between(t));
	CHECK(scrub_frames_release(t, &out) == 0 && memmem(out.p, out.n, "\x89\x04ping", 6) && !scrub_frames_waits(t));
	scrub_frames_free(t);
	scrub_unref(s);
}

static void what_no_server_sends_ends_a_websocket(void)
{
	static const struct sv wrong[] = {
		{"\x81\x85mask", 6}, /* masked: what it hides is not seen */
		{"\xc1\x01x", 3},    /* compressed by an extension */
		{"\x83\x01x", 3},    /* opcodes that nobody knows */
		{"\x8b\x01x", 3},
		{"\x09\x01x", 3},    /* a control frame in pieces */
		{"\x89\x7e\x00\x7e", 4},
		{"\x82\x7f\x80\0\0\0\0\0\0\0", 10},
		{"HTTP/1.1 200 OK\r\n", 17},
	};
	struct scrub *s = make(key);
	uint64_t hits;
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 4096);
		CHECK(scrub_all(s, wrong[i], 1, &out, &hits) == -EPROTO);
	}
	scrub_unref(s);
}

static void frames_that_carry_nothing_have_an_end(void)
{
	struct scrub *s = make(key);
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};
	uint64_t hits;
	unsigned i;

	buf_init(&in, 1 << 20);
	buf_init(&out, 1 << 20);
	put_frame(&in, 0x01, sv_of("held"));
	for (i = 0; i < 100000; i++)
		put_frame(&in, 0x00, sv_n("", 0));
	CHECK(scrub_all(s, buf_view(&in), 4096, &out, &hits) == -EPROTO);
	/* behind what is not held they pass */
	in.n = 0;
	buf_clear(&out);
	put_frame(&in, 0x01, sv_of("gone "));
	for (i = 0; i < 100000; i++)
		put_frame(&in, 0x00, sv_n("", 0));
	CHECK(scrub_all(s, buf_view(&in), 4096, &out, &hits) == 0 && sv_eq(buf_view(&in), buf_view(&out)));
	scrub_unref(s);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_secret_split_over_frames_is_replaced),
		CASE(a_secret_in_a_control_frame_is_replaced),
		CASE(a_secret_split_over_control_frames_and_messages_is_replaced),
		CASE(control_frames_are_released_as_messages_are),
		CASE(what_no_server_sends_ends_a_websocket),
		CASE(frames_that_carry_nothing_have_an_end),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
