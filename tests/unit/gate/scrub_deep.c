#include "gate/egress/scrub.h"

#include <ctype.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/coding.h"
#include "check.h"
#include "draw.h"

static const char secret[] = "sk-Test_7f/Q+0123456789:pa\"ss&w";
static const char placeholder[] = "sk-placeholder";

/* Encodings: each writes `in` to `out`. What they add before and behind it is of the same coding, as in a page that was
 * encoded as a whole. */

static void plain(struct buf *out, struct sv in)
{
	(void)buf_sv(out, in);
}

static void around(struct buf *whole, struct sv in)
{
	static const char before[] = "Authorization: Basic ", behind[] = "\r\nAccept: */*";

	buf_init(whole, 1 << 20);
	(void)buf_add(whole, before, draw(sizeof(before) - 1));
	(void)buf_sv(whole, in);
	(void)buf_add(whole, behind, draw(sizeof(behind) - 1));
}

static void put_base64(struct buf *out, struct sv in, const char *alphabet, size_t line, const char *end)
{
	AUTO_BUF whole = {0};
	AUTO_BUF coded = {0};
	size_t i;

	around(&whole, in);
	buf_init(&coded, 1 << 20);
	CHECK(buf_reserve(&coded, BASE64_SIZE(whole.n)) == 0);
	base64_put(buf_view(&whole), alphabet, coded.p);
	for (i = 0; i < BASE64_SIZE(whole.n); i++) {
		if (i && i % line == 0)
			(void)buf_str(out, end);
		(void)buf_char(out, coded.p[i]);
	}
}

static void base64(struct buf *out, struct sv in)
{
	put_base64(out, in, base64_standard, 1 << 20, "");
}

static void base64_for_url(struct buf *out, struct sv in)
{
	put_base64(out, in, base64_url, 1 << 20, "");
}

static void base64_lines(struct buf *out, struct sv in)
{
	put_base64(out, in, base64_standard, 76, "\n");
}

static void base64_pem(struct buf *out, struct sv in)
{
	put_base64(out, in, base64_standard, 64, "\r\n");
}

static void base64_json_lines(struct buf *out, struct sv in)
{
	put_base64(out, in, base64_standard, 60, "\\n");
}

static void base64_indented(struct buf *out, struct sv in)
{
	static const char *const ends[] = {
		"\n    ",    "\n\t",      " \n",     " \t\r\n  ",    "\r\n                                    ",
		"\\n      ", "\\r\\n\\t", "  \\n  ", " &#13;&#10; ", " %20 \n"};

	put_base64(out, in, base64_standard, draw(2) ? 48 : 76, ends[draw(ARRAY_LEN(ends))]);
}

static void put_hex(struct buf *out, struct sv in, const char *const digits[2])
{
	AUTO_BUF whole = {0};
	size_t i;

	around(&whole, in);
	for (i = 0; i < whole.n; i++) {
		(void)buf_char(out, digits[draw(2)][(unsigned char)whole.p[i] >> 4]);
		(void)buf_char(out, digits[draw(2)][(unsigned char)whole.p[i] & 15]);
	}
}

static void hex(struct buf *out, struct sv in)
{
	put_hex(out, in, (const char *const[]){hex_lower, hex_lower});
}

static void hex_mixed(struct buf *out, struct sv in)
{
	put_hex(out, in, (const char *const[]){hex_lower, hex_upper});
}

static void put_hex_lines(struct buf *out, struct sv in, const char *end)
{
	AUTO_BUF whole = {0};
	size_t i;

	buf_init(&whole, 1 << 20);
	hex(&whole, in);
	for (i = 0; i < whole.n; i++) {
		if (i && i % 60 == 0)
			(void)buf_str(out, end);
		(void)buf_char(out, whole.p[i]);
	}
}

static void hex_lines(struct buf *out, struct sv in)
{
	put_hex_lines(out, in, "\n");
}

static void hex_indented(struct buf *out, struct sv in)
{
	put_hex_lines(out, in, "\n  ");
}

/* Must this byte be escaped? Others are by chance. */
static bool escapes(char c, const char *must)
{
	return strchr(must, c) || draw(2);
}

static void url(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		if (escapes(in.p[i], "%\"&+/:=\n\r"))
			(void)buf_printf(out, draw(2) ? "%%%02X" : "%%%02x", (unsigned)(unsigned char)in.p[i]);
		else
			(void)buf_char(out, in.p[i]);
}

static void json(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		if (escapes(in.p[i], "\\\"/&\n\r"))
			(void)buf_printf(out, "\\u%04x", (unsigned)(unsigned char)in.p[i]);
		else
			(void)buf_char(out, in.p[i]);
}

static void html(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		if (escapes(in.p[i], "&\"'<>"))
			(void)buf_printf(out, draw(2) ? "&#%u;" : "&#x%x;", (unsigned)(unsigned char)in.p[i]);
		else
			(void)buf_char(out, in.p[i]);
}

/*
 * What escapes as little as its reader can do with, and other signs by chance: the "&", "#" or ";" of a reference
 * stays, or the backslash of an escape, or digits of both do.
 */
static void url_a_little(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, in.p[i] == '%' || in.p[i] == '+' || draw(3) == 0 ? "%%%02X" : "%c",
				 (unsigned)(unsigned char)in.p[i]);
}

static void json_a_little(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, in.p[i] == '"' || draw(3) == 0 ? "\\u%04x" : "%c",
				 (unsigned)(unsigned char)in.p[i]);
}

static void html_a_little(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, draw(3) == 0 ? (draw(2) ? "&#%u;" : "&#x%x;") : "%c",
				 (unsigned)(unsigned char)in.p[i]);
}

/* As js-cookie writes a value: "&" and "#" stay. */
static void cookie(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, strchr("%;,\"\\() ", in.p[i]) ? "%%%02X" : "%c",
				 (unsigned)(unsigned char)in.p[i]);
}

/* As templates write text: numbers for signs, a semicolon behind each. */
static void template(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, strchr("/=+-_&\"'<>:", in.p[i]) ? "&#x%X;" : "%c",
				 (unsigned)(unsigned char)in.p[i]);
}

static void html_padded(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, "&#%07u;", (unsigned)(unsigned char)in.p[i]);
}

static void html_open(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, "&#%u", (unsigned)(unsigned char)in.p[i]);
}

static void slashes(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_printf(out, strchr("%\"&+/:=-_\n\r", in.p[i]) ? "\\%c" : "%c", in.p[i]);
}

static void capitals(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_char(out, (char)toupper((unsigned char)in.p[i]));
}

static void small_letters(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		(void)buf_char(out, (char)tolower((unsigned char)in.p[i]));
}

typedef void coding_fn(struct buf *out, struct sv in);

static const struct {
	const char *name;
	coding_fn *fn;
	unsigned twelfths; /* of the length before, at least */
	bool runs;	   /* in it, hexadecimal is looked for in one case */
} codings[] = {{"nothing", plain, 12, false},
	       {"base64", base64, 16, true},
	       {"base64 for URLs", base64_for_url, 16, true},
	       {"hexadecimal", hex, 24, true},
	       {"mixed hexadecimal", hex_mixed, 24, true},
	       {"escapes of URLs", url, 12, false},
	       {"escapes of JSON", json, 12, false},
	       {"references of HTML", html, 12, false}};

/* What is written once, as these, is found. */
static coding_fn *const single[] = {base64_lines, base64_pem,   base64_json_lines, base64_indented,
				    hex_lines,    hex_indented, html_padded,       html_open,
				    slashes,      capitals,     small_letters};

static const struct {
	coding_fn *fn;
	unsigned twelfths;
} in_lines[] = {{base64_lines, 16}, {base64_pem, 16}, {hex_lines, 24}};

static void feed(struct scrub *s, struct sv in, unsigned most, struct buf *out)
{
	struct scrub_stream *t = scrub_stream_new(s);
	struct sv ready;
	char piece[64];
	size_t at, n;

	buf_clear(out);
	CHECK(t != NULL);
	for (at = 0; t && at < in.n; at += n) {
		n = 1 + draw(most);
		n = n < in.n - at ? n : in.n - at;
		memcpy(piece, in.p + at, n);
		CHECK(scrub_stream_feed(t, piece, n, &ready) == 0);
		(void)buf_sv(out, ready);
	}
	if (t) {
		scrub_stream_end(t, &ready);
		(void)buf_sv(out, ready);
		CHECK(scrub_stream_hits(t) > 0);
	}
	scrub_stream_free(t);
}

/* From its first byte to its last it was replaced: at least so many bytes, in one piece but for what is equal by
 * chance. */
static void check_gone(const char *what, struct sv in, struct sv out, size_t least)
{
	size_t i, first = in.n, last = 0, same = 0, most = 0;

	CHECK(in.n == out.n);
	for (i = 0; i < in.n && i < out.n; i++) {
		if (in.p[i] == out.p[i]) {
			same++;
			continue;
		}
		most = first < in.n && same > most ? same : most;
		first = first < in.n ? first : i;
		last = i;
		same = 0;
	}
	CHECK(first < last && last - first + 1 >= least && most <= 4);
	if (first >= last || last - first + 1 < least || most > 4)
		printf("# %s\n# %.*s\n# %.*s\n", what, (int)in.n, in.p, (int)out.n, out.p);
}

static void one_round(struct scrub *s, const char *what, coding_fn *inner, coding_fn *outer, unsigned twelfths)
{
	AUTO_BUF first = {0};
	AUTO_BUF second = {0};
	AUTO_BUF page = {0};
	AUTO_BUF out = {0};
	AUTO_BUF again = {0};

	buf_init(&first, 1 << 20);
	buf_init(&second, 1 << 20);
	buf_init(&page, 1 << 20);
	buf_init(&out, 1 << 20);
	buf_init(&again, 1 << 20);
	inner(&first, sv_of(secret));
	outer(&second, buf_view(&first));
	(void)buf_printf(&page, "{\"echo\": \"%s\"} and more", second.p);
	feed(s, buf_view(&page), 64, &out);
	check_gone(what, buf_view(&page), buf_view(&out), strlen(secret) * twelfths / 144 - 6);
	feed(s, buf_view(&page), 1, &again);
	CHECK(sv_eq(buf_view(&out), buf_view(&again)));
	CHECK(scrub_text(s, page.p, page.n) > 0 && sv_eq(buf_view(&page), buf_view(&out)));
}

static struct scrub *make(void)
{
	const struct scrub_pair pair = {sv_of(secret), sv_of(placeholder)};
	struct scrub *s = NULL;

	CHECK(scrub_new(&pair, 1, &s) == 0);
	return s;
}

static void what_is_encoded_twice_is_found_however_it_is_split(void)
{
	struct scrub *s = make();
	char what[64];
	size_t i, k;
	int round;

	for (i = 0; s && i < ARRAY_LEN(codings); i++)
		for (k = 0; k < ARRAY_LEN(codings); k++)
			for (round = 0; round < 40 && !(codings[i].fn == hex_mixed && codings[k].runs); round++) {
				(void)snprintf(what, sizeof(what), "%s in %s", codings[i].name, codings[k].name);
				one_round(s, what, codings[i].fn, codings[k].fn,
					  codings[i].twelfths * codings[k].twelfths);
			}
	scrub_unref(s);
}

static void lines_of_base64_and_odd_references_are_found_however_they_are_split(void)
{
	struct scrub *s = make();
	size_t i;
	int round;

	for (i = 0; s && i < ARRAY_LEN(single); i++)
		for (round = 0; round < 200; round++)
			one_round(s, "once", plain, single[i], 144);
	scrub_unref(s);
}

static void lines_are_found_in_what_is_encoded_once_more(void)
{
	struct scrub *s = make();
	size_t i, k;
	int round;

	for (i = 0; s && i < ARRAY_LEN(in_lines); i++)
		for (round = 0; round < 100; round++) {
			for (k = 0; k < ARRAY_LEN(codings); k++)
				one_round(s, codings[k].name, in_lines[i].fn, codings[k].fn,
					  in_lines[i].twelfths * codings[k].twelfths);
			one_round(s, "numbers without an end", in_lines[i].fn, html_open, in_lines[i].twelfths * 36);
			if (in_lines[i].fn != base64_pem) /* between the halves of its breaks nobody puts one */
				one_round(s, "backslashes", in_lines[i].fn, slashes, in_lines[i].twelfths * 12);
			for (k = 0; k < ARRAY_LEN(in_lines); k++)
				one_round(s, "lines in lines", in_lines[i].fn, in_lines[k].fn,
					  in_lines[i].twelfths * in_lines[k].twelfths);
		}
	scrub_unref(s);
}

/* Zeros before or behind each byte; or its number, and what stands between two of them. */
static void put_spaced(struct buf *out, struct sv in, unsigned how)
{
	static const char between[] = {':', ' ', '-'};
	char two[2];
	size_t i;

	for (i = 0; i < in.n; i++) {
		if (how < 2) {
			two[how] = in.p[i];
			two[!how] = '\0';
			(void)buf_add(out, two, sizeof(two));
			continue;
		}
		hex_put(sv_n(in.p + i, 1), how % 2 ? hex_lower : hex_upper, two);
		if (i)
			(void)buf_char(out, between[how / 2 - 1]);
		(void)buf_add(out, two, sizeof(two));
	}
}

static void an_escape_that_is_partly_escaped_again_is_found(void)
{
	static coding_fn *const inner[] = {url,           json,          html,        template, url_a_little,
					   json_a_little, html_a_little, html_padded, html_open};
	static coding_fn *const outer[] = {url, json, html, cookie, url_a_little, json_a_little, html_a_little};
	struct scrub *s = make();
	char what[64];
	size_t i, k;
	int round;

	for (i = 0; s && i < ARRAY_LEN(inner); i++)
		for (k = 0; k < ARRAY_LEN(outer); k++)
			for (round = 0; round < 100; round++) {
				(void)snprintf(what, sizeof(what), "inner %zu, outer %zu", i, k);
				one_round(s, what, inner[i], outer[k], 144);
			}
	scrub_unref(s);
}

static void utf16_and_rows_of_numbers_are_found_however_they_are_split(void)
{
	struct scrub *s = make();
	AUTO_BUF whole = {0};
	AUTO_BUF page = {0};
	AUTO_BUF out = {0};
	AUTO_BUF again = {0};
	unsigned how, round;

	buf_init(&whole, 1 << 20);
	buf_init(&page, 1 << 20);
	buf_init(&out, 1 << 20);
	buf_init(&again, 1 << 20);
	(void)buf_printf(&whole, "key: %s\r\nmore", secret);
	for (how = 0; s && how < 8; how++)
		for (round = 0; round < 100; round++) {
			buf_clear(&page);
			put_spaced(&page, buf_view(&whole), how);
			feed(s, buf_view(&page), 64, &out);
			check_gone("spaced", buf_view(&page), buf_view(&out), strlen(secret) * (how < 2 ? 2 : 3) - 6);
			feed(s, buf_view(&page), 1, &again);
			CHECK(sv_eq(buf_view(&out), buf_view(&again)));
		}
	scrub_unref(s);
}

static void a_line_that_is_no_base64_is_not_kept_waiting(void)
{
	static const char *const lines[] = {"data: abc\n",
					    "data: x\n\n",
					    "what may be ",
					    "in 10 20 ",
					    "0123456789012345678901234567890123456789012345 7\n",
					    "01234567890123456789012345678901234567890123456789\n\n",
					    "01234567890123456789012345678901234567890123456789  -\n",
					    "01234567890123456789012345678901234567890123456789 \n \n"};
	struct scrub *s = make();
	struct sv ready;
	char text[80];
	size_t i;

	for (i = 0; s && i < ARRAY_LEN(lines); i++) {
		struct scrub_stream *t = scrub_stream_new(s);

		memcpy(text, lines[i], strlen(lines[i]));
		CHECK(t && scrub_stream_feed(t, text, strlen(lines[i]), &ready) == 0 && ready.n == strlen(lines[i]));
		scrub_stream_free(t);
	}
	scrub_unref(s);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_is_encoded_twice_is_found_however_it_is_split),
		CASE(lines_of_base64_and_odd_references_are_found_however_they_are_split),
		CASE(lines_are_found_in_what_is_encoded_once_more),
		CASE(an_escape_that_is_partly_escaped_again_is_found),
		CASE(utf16_and_rows_of_numbers_are_found_however_they_are_split),
		CASE(a_line_that_is_no_base64_is_not_kept_waiting),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
