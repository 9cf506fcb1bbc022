#include "agent/clip.h"

#include "check.h"

static void feed(struct clip *c, const char *text, size_t n, size_t piece)
{
	size_t at;

	for (at = 0; at < n; at += piece)
		clip_add(c, sv_n(text + at, n - at < piece ? n - at : piece));
}

/* Every small size of head, tail, text and piece against the plain way to say it. */
static void beginning_and_end_are_kept_however_the_bytes_come(void)
{
	static const char text[] = "abcdefghijklmnop";
	size_t head, tail, n, piece;

	for (head = 0; head < 6; head++)
		for (tail = 0; tail < 6; tail++)
			for (n = 0; n < sizeof(text) - 1; n++)
				for (piece = 1; piece < 7; piece++) {
					struct clip c;
					AUTO_BUF got = {0}, want = {0};

					buf_init(&got, 1024);
					buf_init(&want, 1024);
					CHECK(clip_init(&c, head, tail) == 0);
					feed(&c, text, n, piece);
					clip_text(&c, &got);
					if (n <= head + tail) {
						(void)buf_add(&want, text, n);
					} else {
						(void)buf_add(&want, text, head);
						if (head)
							(void)buf_printf(
								&want,
								"\n[... %zu bytes of output are left out here ...]\n",
								n - head - tail);
						(void)buf_add(&want, text + n - tail, tail);
					}
					CHECK(sv_eq(buf_view(&got), buf_view(&want)) &&
					      clip_is_cut(&c) == (n > head + tail));
					clip_done(&c);
				}
}

static void cuts_split_no_character(void)
{
	/* U+1F600 is four bytes, the euro sign three, o with dots two */
	static const char text[] =
		"\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xb6-------------------\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80";
	size_t head, tail;

	for (head = 0; head < 12; head++)
		for (tail = 0; tail < 12; tail++) {
			struct clip c;
			AUTO_BUF got = {0};
			size_t i;

			buf_init(&got, 1024);
			CHECK(clip_init(&c, head, tail) == 0);
			feed(&c, text, sizeof(text) - 1, 3);
			clip_text(&c, &got);
			for (i = 0; i < got.n;) {
				size_t length = (unsigned char)got.p[i] < 0x80    ? 1
						: (unsigned char)got.p[i] >= 0xf0 ? 4
						: (unsigned char)got.p[i] >= 0xe0 ? 3
										  : 2,
				       k;

				CHECK(((unsigned char)got.p[i] & 0xc0) != 0x80 && i + length <= got.n);
				for (k = 1; k < length && i + k < got.n; k++)
					CHECK(((unsigned char)got.p[i + k] & 0xc0) == 0x80);
				i += length;
			}
			clip_done(&c);
		}
}

static void bytes_that_are_no_text_are_kept(void)
{
	struct clip c;
	AUTO_BUF got = {0};

	buf_init(&got, 1024);
	CHECK(clip_init(&c, 4, 4) == 0);
	feed(&c, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 12, 5);
	clip_text(&c, &got);
	CHECK(got.n > 4 && buf_failed(&got) == 0);
	clip_done(&c);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(beginning_and_end_are_kept_however_the_bytes_come),
		CASE(cuts_split_no_character),
		CASE(bytes_that_are_no_text_are_kept),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
