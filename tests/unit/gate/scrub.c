#include "gate/egress/scrub.h"

#include <errno.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "draw.h"
#include "vault/needle_decode.h"

static const char key[] = "sk-test-Zm9v/bar+baz=0123456789";
static const char placeholder[] = "sk-placeholder";

static struct scrub *make(const char *secret)
{
	const struct scrub_pair pair = {sv_of(secret), sv_of(placeholder)};
	struct scrub *s = NULL;

	CHECK(scrub_new(&pair, 1, &s) == 0);
	return s;
}

static void base64(struct buf *out, struct sv in, bool url, bool pad)
{
	const char *alphabet = url ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
				   : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)in.p;
	size_t i, k, have;
	uint32_t v;

	for (i = 0; i < in.n; i += 3) {
		have = in.n - i < 3 ? in.n - i : 3;
		v = (uint32_t)p[i] << 16 | (have > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (have > 2 ? p[i + 2] : 0);
		for (k = 0; k < 4; k++)
			if (k <= have)
				(void)buf_char(out, alphabet[v >> (18 - 6 * k) & 63]);
			else if (pad)
				(void)buf_char(out, '=');
	}
}

/* Some bytes percent-encoded, in any case; always those that would make the result mean something else. */
static void percent(struct buf *out, struct sv in, unsigned one_in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		if (strchr("%\\ ", in.p[i]) || draw(one_in) == 0)
			(void)buf_printf(out, draw(2) ? "%%%02x" : "%%%02X", (unsigned char)in.p[i]);
		else
			(void)buf_char(out, in.p[i]);
}

static void json(struct buf *out, struct sv in)
{
	size_t i;

	for (i = 0; i < in.n; i++)
		if (strchr("\"\\/", in.p[i]) && draw(2))
			(void)buf_printf(out, "\\%c", in.p[i]);
		else if (strchr("\"\\%", in.p[i]) || draw(3) == 0)
			(void)buf_printf(out, draw(2) ? "\\u%04x" : "\\u%04X", (unsigned char)in.p[i]);
		else
			(void)buf_char(out, in.p[i]);
}

/* zeros: numbers have fewer than so many digits, if they need no more. */
/* SHORT_NAMES: those that may be escaped once more, zeros and all (needle_decode.h). */
enum names { SHORT_NAMES = 7, ALL_NAMES = 37 };
static void html(struct buf *out, struct sv in, unsigned zeros, enum names n_named)
{
	static const char *const named[ALL_NAMES] = {
		"&amp;",    "<lt;",     ">gt;",     "\"quot;", "'apos;",  "+plus;",   "/sol;",    "_lowbar;",
		".period;", "=equals;", ":colon;",  "&AMP;",   "<LT;",    ">GT;",     "\"QUOT;",  "_UnderBar;",
		"-hyphen;", "-dash;",   "@commat;", "!excl;",  "#num;",   "$dollar;", "%percnt;", "(lpar;",
		")rpar;",   "*ast;",    ",comma;",  ";semi;",  "?quest;", "[lsqb;",   "\\bsol;",  "]rsqb;",
		"^Hat;",    "`grave;",  "{lcub;",   "|vert;",  "}rcub;"};
	size_t i, k;

	for (i = 0; i < in.n; i++) {
		for (k = draw(2) ? 0 : draw(n_named); k < n_named && named[k][0] != in.p[i];)
			k++;
		if (k < n_named && draw(2))
			(void)buf_printf(out, "&%s", named[k] + 1);
		else if (strchr("&%\\", in.p[i]) || draw(3) == 0)
			(void)buf_printf(out,
					 draw(2)   ? "&#%0*u;"
					 : draw(2) ? "&#x%0*x;"
						   : "&#X%0*X;",
					 (int)draw(zeros), (unsigned char)in.p[i]);
		else
			(void)buf_char(out, in.p[i]);
	}
}

enum form {
	RAW,
	BASE64,
	BASE64_URL,
	BASE64_BARE,
	URL,
	URL_TWICE,
	JSON,
	JSON_TWICE,
	JSON_OF_URL,
	URL_OF_BASE64,
	HTML,
	HTML_TWICE,
	HTML_OF_JSON,
	HEX,
	FORMS
};

static void encode(struct buf *out, enum form form, struct sv secret)
{
	AUTO_BUF inner = {0};
	size_t i;

	buf_init(&inner, 1 << 20);
	switch (form) {
	case RAW:
		(void)buf_sv(out, secret);
		break;
	case BASE64:
	case BASE64_URL:
	case BASE64_BARE:
	case URL_OF_BASE64:
		for (i = draw(3); i > 0; i--)
			(void)buf_char(&inner, (char)('a' + draw(26)));
		(void)buf_sv(&inner, secret);
		for (i = draw(5); i > 0; i--)
			(void)buf_char(&inner, (char)draw(256));
		if (form == URL_OF_BASE64) {
			AUTO_BUF coded = {0};

			buf_init(&coded, 1 << 20);
			base64(&coded, buf_view(&inner), false, true);
			percent(out, buf_view(&coded), 4);
		} else {
			base64(out, buf_view(&inner), form == BASE64_URL, form != BASE64_BARE);
		}
		break;
	case URL:
		percent(out, secret, 1 + draw(4));
		break;
	case URL_TWICE:
		percent(&inner, secret, 3);
		percent(out, buf_view(&inner), 5);
		break;
	case JSON:
		json(out, secret);
		break;
	case JSON_TWICE:
		json(&inner, secret);
		json(out, buf_view(&inner));
		break;
	case JSON_OF_URL:
		percent(&inner, secret, 3);
		json(out, buf_view(&inner));
		break;
	case HTML:
		html(out, secret, NEEDLE_DIGITS + 1, ALL_NAMES);
		break;
	case HTML_TWICE:
		i = draw(2);
		html(&inner, secret, i ? 3 : NEEDLE_DIGITS + 1, SHORT_NAMES);
		html(out, buf_view(&inner), i ? NEEDLE_DIGITS + 1 : 3, SHORT_NAMES);
		break;
	case HTML_OF_JSON:
		json(&inner, secret);
		html(out, buf_view(&inner), NEEDLE_DIGITS + 1, SHORT_NAMES);
		break;
	case HEX:
	case FORMS:
		for (i = 0; i < secret.n; i++)
			(void)buf_printf(out, form == HEX ? "%02x" : "%02X", (unsigned char)secret.p[i]);
		break;
	}
}

static void noise(struct buf *out, size_t n)
{
	static const char text[] = "abc %\\u0041/+=\"{}sk-test-\n%4\\&#x4;&amp;&lt";

	while (n-- > 0)
		(void)buf_char(out, draw(3) ? text[draw(sizeof(text) - 1)] : (char)draw(256));
}

/* Through a stream in random pieces. */
static void pass(struct scrub *s, struct sv in, struct buf *out, uint64_t *hits)
{
	struct scrub_stream *t = scrub_stream_new(s);
	struct sv o;
	size_t at = 0, n;
	char *piece;

	buf_clear(out);
	for (; t && at < in.n; at += n) {
		n = 1 + draw(draw(2) ? 3 : 64);
		n = n > in.n - at ? in.n - at : n;
		piece = malloc(n);
		memcpy(piece, in.p + at, n);
		CHECK(scrub_stream_feed(t, piece, n, &o) == 0);
		(void)buf_sv(out, o);
		free(piece);
	}
	scrub_stream_end(t, &o);
	(void)buf_sv(out, o);
	*hits = scrub_stream_hits(t);
	scrub_stream_free(t);
}

static void random_secret(char *to, size_t max)
{
	size_t n = 6 + draw((unsigned)max - 7), i;

	for (i = 0; i < n; i++)
		to[i] = draw(4) ? "abcXYZ0189-_"[draw(12)] : (char)(0x20 + draw(0x5f));
	/* "&" stands before it, and "&#9" is a reference to readers of HTML */
	to[0] = to[0] == '#' ? 'x' : to[0];
	to[n] = '\0';
}

/* The bytes that the secret alone decides: neighbours in base64 carry a few bits of its first and last byte. */
static void one_round(enum form form)
{
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};
	AUTO_BUF coded = {0};
	char secret[80];
	struct scrub *s;
	size_t before, slack;
	uint64_t hits;

	buf_init(&in, 1 << 20);
	buf_init(&out, 1 << 20);
	buf_init(&coded, 1 << 20);
	random_secret(secret, sizeof(secret));
	s = make(secret);
	encode(&coded, form, sv_of(secret));
	noise(&in, draw(200));
	(void)buf_char(&in, '&');
	before = in.n;
	(void)buf_sv(&in, buf_view(&coded));
	(void)buf_char(&in, '&');
	noise(&in, draw(200));
	pass(s, buf_view(&in), &out, &hits);
	slack = form == URL_OF_BASE64 ? 40 : form >= BASE64 && form <= BASE64_BARE ? 10 : 0;
	CHECK(out.n == in.n);
	CHECK(hits > 0);
	CHECK(memcmp(out.p, in.p, before) == 0);
	CHECK(memcmp(out.p + before + coded.n, in.p + before + coded.n, in.n - before - coded.n) == 0);
	CHECK(!memmem(out.p, out.n, secret, strlen(secret)));
	/* None of the first bytes stands where it stood, but for what lies beside base64. */
	CHECK(slack || memcmp(out.p + before, placeholder, coded.n < 14 ? coded.n : 14) == 0);
	CHECK(memmem(out.p + before, coded.n, placeholder, 6));
	if (check_failures)
		printf("# form %d, secret %s, coded %s\n", form, secret, coded.p);
	scrub_unref(s);
}

static void no_form_of_a_secret_survives_however_it_is_split(void)
{
	unsigned i;

	for (i = 0; i < 11000 && !check_failures; i++)
		one_round((enum form)(i % (FORMS + 1)));
}

static void data_without_a_secret_passes_unchanged(void)
{
	struct scrub *s = make(key);
	AUTO_BUF in = {0};
	AUTO_BUF out = {0};
	uint64_t hits = 1;
	unsigned i;

	buf_init(&in, 1 << 20);
	buf_init(&out, 1 << 20);
	for (i = 0; i < 500; i++) {
		buf_clear(&in);
		noise(&in, draw(3000));
		pass(s, buf_view(&in), &out, &hits);
		CHECK(hits == 0 && sv_eq(buf_view(&in), buf_view(&out)));
	}
	scrub_unref(s);
}

static void an_event_passes_at_once_and_a_tail_of_text_waits(void)
{
	struct scrub *s = make(key);
	struct scrub_stream *t = scrub_stream_new(s);
	char event[] = "data: {\"delta\":\"hello sk-\"}\n\n", half[] = "x sk-tes", rest[] = "ting", blank[] = " ",
	     whole[64];
	struct sv o;

	CHECK(scrub_stream_feed(t, event, strlen(event), &o) == 0);
	CHECK(o.n == strlen(event) && !scrub_stream_waits(t));
	CHECK(scrub_stream_feed(t, half, 8, &o) == 0);
	CHECK(sv_is(o, "x ") && scrub_stream_waits(t));
	CHECK(scrub_stream_feed(t, rest, 4, &o) == 0);
	CHECK(o.n == 0);
	CHECK(scrub_stream_feed(t, blank, 1, &o) == 0);
	CHECK(sv_is(o, "sk-testing ") && !scrub_stream_waits(t));
	(void)snprintf(whole, sizeof(whole), "%s\n", key);
	CHECK(scrub_stream_feed(t, whole, strlen(whole), &o) == 0);
	CHECK(o.n == strlen(whole) && sv_starts(o, placeholder));
	CHECK(scrub_stream_hits(t) == 1);
	scrub_stream_free(t);
	scrub_unref(s);
}

static void what_time_released_is_gone_and_the_rest_is_still_replaced(void)
{
	struct scrub *s = make("secret-0123456789");
	struct scrub_stream *t = scrub_stream_new(s);
	char first[] = "a secr", second[] = "et-0123", third[] = "456789\n", none[] = "";
	struct sv o;

	CHECK(scrub_stream_feed(t, first, 6, &o) == 0 && sv_is(o, "a "));
	scrub_stream_release(t, &o);
	CHECK(sv_is(o, "secr") && !scrub_stream_waits(t));
	scrub_stream_release(t, &o);
	CHECK(o.n == 0);
	CHECK(scrub_stream_feed(t, second, 7, &o) == 0 && o.n == 0);
	CHECK(scrub_stream_feed(t, none, 0, &o) == 0 && o.n == 0 && scrub_stream_waits(t));
	CHECK(scrub_stream_feed(t, third, 7, &o) == 0);
	/* "sk-placeholder", repeated, as it stands from its fifth letter on */
	CHECK(sv_is(o, "laceholdersk-\n") && scrub_stream_hits(t) == 1);
	scrub_stream_free(t);
	scrub_unref(s);
}

static void a_stream_that_runs_looks_for_new_credentials(void)
{
	struct scrub *s = make("secret-0123456789"), *second = make("another-987654321"),
		     *third = make("a third one, 1234");
	struct scrub_stream *t = scrub_stream_new(s);
	char first[] = "a secr", more[] = "et-0123456789\nano", rest[] = "ther-987654321\nsec",
	     last[] = "ret-0123456789\n";
	struct sv o;
	unsigned i;

	/* what has begun of an old one is found behind the change, though it was released */
	CHECK(scrub_stream_feed(t, first, 6, &o) == 0 && sv_is(o, "a "));
	scrub_stream_release(t, &o);
	CHECK(scrub_stream_renew(t, second) == 0);
	CHECK(scrub_stream_feed(t, more, sizeof(more) - 1, &o) == 0 && sv_is(o, "laceholdersk-\n"));
	/* and of the new one what is held */
	for (i = 0; i < 5; i++)
		CHECK(scrub_stream_renew(t, second) == 0 && scrub_stream_waits(t));
	scrub_unref(second);
	CHECK(scrub_stream_feed(t, rest, sizeof(rest) - 1, &o) == 0 && sv_is(o, "sk-placeholdersk-\n"));
	CHECK(scrub_stream_renew(t, third) == 0);
	CHECK(scrub_stream_feed(t, last, sizeof(last) - 1, &o) == 0);
	CHECK(sv_is(o, "secret-0123456789\n"));
	scrub_unref(third);
	scrub_stream_end(t, &o);
	CHECK(o.n == 0);
	scrub_stream_free(t);
	scrub_unref(s);
}

static void what_is_held_has_a_limit_that_covers_every_form(void)
{
	static char secret[8193];
	const size_t lengths[] = {6, 14, 15, 40, 108, 2000, 8192};
	const size_t limits[] = {1024, 2048, 4096, 8192, 16384, 512 * 1024, SCRUB_HOLD_MAX};
	struct scrub_stream *t;
	struct scrub *s;
	struct sv o;
	size_t i, fed, out;
	char piece[100];

	for (i = 0; i < ARRAY_LEN(lengths); i++) {
		memset(secret, 'k', lengths[i]);
		secret[lengths[i]] = '\0';
		s = make(secret);
		CHECK(scrub_hold(s) == limits[i]);
		t = scrub_stream_new(s);
		for (fed = out = 0; fed < 2 * limits[i]; fed += sizeof(piece)) {
			memset(piece, 'x', sizeof(piece));
			CHECK(scrub_stream_feed(t, piece, sizeof(piece), &o) == 0);
			out += o.n;
		}
		CHECK(fed - out == limits[i]);
		scrub_stream_end(t, &o);
		CHECK(o.n == limits[i]);
		scrub_stream_free(t);
		scrub_unref(s);
	}
}

static void numbers_of_html_are_undone_with_zeros_before_them(void)
{
	static const struct {
		const char *text;
		bool found;
	} cases[] = {
		{"sk-Secret&#43;AbcD.0123", true},
		{"sk-Secret&#0043;AbcD.0123", true},
		{"sk-Secret&#x002B;AbcD.0123", true},
		{"sk-Secret&#X0000002b;AbcD.0123", true},
		{"sk-Secret&#00000043;AbcD.0123", true},
		{"&#0000115;&#x006B;-Secret&#x00002b;AbcD&#046;0123", true},
		{"sk-Secret&amp;#0043;AbcD.0123", true},
		{"sk-Secret&#x0026;#x000002B;AbcD.0123", true},
		{"sk-Secret%26%23%30%30%34%33%3bAbcD.0123", true},
		/* more than there is room for, and what is none */
		{"sk-Secret&#000000043;AbcD.0123", false},
		{"sk-Secret&#x00000002B;AbcD.0123", false},
		{"sk-Secret&#0;AbcD.0123", false},
		{"sk-Secret&#00000000;AbcD.0123", false},
		{"sk-Secret&#;AbcD.0123", false},
		{"sk-Secret&#x;AbcD.0123", false},
		{"sk-Secret&#0299;AbcD.0123", false}, /* 43 in one byte */
	};
	struct scrub *s = make("sk-Secret+AbcD.0123");
	AUTO_BUF out = {0};
	uint64_t hits;
	size_t i, k;

	buf_init(&out, 4096);
	for (i = 0; i < ARRAY_LEN(cases); i++)
		for (k = 0; k < 200; k++) {
			pass(s, sv_of(cases[i].text), &out, &hits);
			CHECK((hits > 0) == cases[i].found);
			CHECK(!cases[i].found == sv_is(buf_view(&out), cases[i].text));
			if (check_failures)
				printf("# %s\n", cases[i].text);
		}
	scrub_unref(s);
}

/* The worst that can be found: hexadecimal, each digit escaped twice, all of both, as long as it can be; in pieces of
 * one byte. */
static void names_of_html_are_undone(void)
{
	static const char secret[] = "sk_a.b-c/d+e=f:g&h";
	static const char *const texts[] = {"sk&lowbar;a&period;b&hyphen;c&sol;d&plus;e&equals;f&colon;g&AMP;h",
					    "sk&UnderBar;a.b&dash;c/d+e=f:g&amp;h",
					    "sk&#95a&#x2e;b&#45c/d+e&#61f:g&#38h",
					    "sk&amp;lowbar;a.b-c/d+e=f:g&amp;AMP;h"};
	static const char *const ends[] = {"sk_a.b-c/d+e=f:g&amp", "sk_a.b-c/d+e=f:g&AMP", "sk_a.b-c/d+e=f:g&amp ",
					   "sk_a.b-c/d+e=f:g&AMP\"x"};
	struct scrub *s = make(secret), *bare = make("sk_a.b-c/d+e=f:g&");
	AUTO_BUF out = {0};
	uint64_t hits;
	size_t i;

	buf_init(&out, 1 << 20);
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		pass(s, sv_of(texts[i]), &out, &hits);
		CHECK(hits > 0 && out.n == strlen(texts[i]));
	}
	for (i = 0; i < ARRAY_LEN(ends); i++) {
		pass(bare, sv_of(ends[i]), &out, &hits);
		CHECK(hits > 0 && out.n == strlen(ends[i]));
	}
	scrub_unref(s);
	scrub_unref(bare);
}

static void backslashes_before_signs_are_undone(void)
{
	static const char secret[] = "-sk_a.b/d+e=f&g%h~i~sekrit";
	static const char *const texts[] = {
		"\\-sk\\_a\\.b\\/d\\+e\\=f\\&g\\%h\\~i\\~sekrit",
		"-sk\\_a.b/d+e=f\\&amp;g\\%25h~i~sekrit",
		"\\\\\\-sk\\\\\\_a\\\\\\.b\\\\/d\\\\+e\\\\=f\\\\\\&g\\\\\\%h\\\\\\~i\\\\\\~sekrit",
		"%5C-sk%5C_a.b/d+e=f&g%25h~i~sekrit",
		"\\u005c-sk\\u005c_a.b/d+e=f&g%h\\u005c~i~sekrit",
		"x\\%2573y\\%252Dsk_a.b/d+e=f&g%h~i~sekri%74",
		"\\%2Dsk_a.b/d+e=f&g%h~i~sekri%74",
		/* base64 of the secret, and of what escapes it */
		"LXNrX2EuYi9kK2U9ZiZnJWh\\+aX5zZWtyaXQ\\=",
		"XC1za1xfYVwuYlwvZFwrZVw9ZlwmZ1wlaFx+aVx+c2Vrcml0",
	};
	/* where one is looked for, it stays */
	static const char *const kept[] = {"ab\\-cd%zz\\Gh", "ab\\-cd&#37;zz\\Gh", "ab%5c-cd%25zz%5cGh",
					   "ab\\\\-cd%zz\\\\Gh"};
	struct scrub *s = make(secret), *with = make("ab\\-cd%zz\\Gh");
	AUTO_BUF out = {0};
	uint64_t hits;
	size_t i;

	buf_init(&out, 1 << 20);
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		pass(s, sv_of(texts[i]), &out, &hits);
		if (hits == 0)
			printf("# %s\n", texts[i]);
		CHECK(hits > 0 && out.n == strlen(texts[i]));
	}
	for (i = 0; i < ARRAY_LEN(kept); i++) {
		pass(with, sv_of(kept[i]), &out, &hits);
		if (hits == 0)
			printf("# %s\n", kept[i]);
		CHECK(hits > 0 && out.n == strlen(kept[i]));
	}
	pass(s, sv_of("-sk\\_a.b/d+e=f&g%h~i~s\\ekrit"), &out, &hits);
	CHECK(hits == 0);
	scrub_unref(s);
	scrub_unref(with);
}

static void the_longest_form_is_replaced_to_its_first_byte(void)
{
	char secret[81];
	AUTO_BUF once = {0};
	AUTO_BUF twice = {0};
	AUTO_BUF out = {0};
	struct scrub *s;
	uint64_t hits;
	size_t i;

	for (i = 0; i < 80; i++)
		secret[i] = (char)('a' + draw(26));
	secret[80] = '\0';
	buf_init(&once, 1 << 20);
	buf_init(&twice, 1 << 20);
	buf_init(&out, 1 << 20);
	for (i = 0; i < 160; i++)
		(void)buf_printf(&once, "\\u%04x",
				 (unsigned char)"0123456789abcdef"[i % 2 ? secret[i / 2] & 15 : secret[i / 2] >> 4]);
	for (i = 0; i < once.n; i++)
		(void)buf_printf(&twice, "&#x%08x;", (unsigned char)once.p[i]);
	s = make(secret);
	CHECK(twice.n == (size_t)144 * 80 && twice.n <= scrub_hold(s));
	pass(s, buf_view(&twice), &out, &hits);
	CHECK(hits > 0 && out.n == twice.n);
	for (i = 0; i < out.n; i++)
		CHECK(out.p[i] == placeholder[i % strlen(placeholder)]);
	scrub_unref(s);
}

/* Some form of a beginning of the secret: often of all but its last byte, never of all. */
static void add_guess(struct buf *in, const char *secret)
{
	size_t n = strlen(secret) - 1;

	encode(in, (enum form)draw(FORMS + 1), sv_n(secret, draw(2) ? n : 1 + draw((unsigned)n)));
}

static void equal_secret(char *to, size_t n, bool blank)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = (char)(0x21 + draw(0x5e));
	if (blank)
		to[n / 2] = ' ';
	to[n] = '\0';
}

/* The same bytes in the same pieces, to two streams whose secrets differ; time passes for both alike. False: one found
 * its secret. */
static bool same_pieces(struct scrub_stream *const t[2], struct sv in)
{
	char piece[2][64];
	struct sv o[2];
	size_t at = 0, n = 0;
	unsigned k, action;

	for (; at <= in.n; at += n) {
		action = at == in.n ? 0 : 1 + draw(12);
		n = action <= 1 ? 0 : 1 + draw(draw(2) ? 3 : 64);
		n = n > in.n - at ? in.n - at : n;
		for (k = 0; k < 2; k++) {
			memcpy(piece[k], in.p + at, n);
			if (action > 1)
				CHECK(scrub_stream_feed(t[k], piece[k], n, &o[k]) == 0);
			else if (action == 1)
				scrub_stream_release(t[k], &o[k]);
			else
				scrub_stream_end(t[k], &o[k]);
		}
		if (scrub_stream_hits(t[0]) + scrub_stream_hits(t[1]))
			return false;
		CHECK(sv_eq(o[0], o[1]) && scrub_stream_waits(t[0]) == scrub_stream_waits(t[1]));
		if (action == 0)
			break;
	}
	return true;
}

static void what_is_held_back_says_nothing_of_the_secret(void)
{
	unsigned i, k, clean = 0;
	AUTO_BUF in = {0};

	buf_init(&in, 1 << 20);
	for (i = 0; i < 4000 && !check_failures; i++) {
		struct scrub_stream *t[2];
		struct scrub *s[2];
		char secret[2][80];
		size_t n = 8 + draw(70);
		bool blank = draw(4) == 0;

		buf_clear(&in);
		for (k = 0; k < 2; k++) {
			equal_secret(secret[k], n, blank);
			s[k] = make(secret[k]);
			t[k] = scrub_stream_new(s[k]);
		}
		for (k = 0; k < 8; k++) {
			noise(&in, draw(20));
			add_guess(&in, secret[draw(2)]);
		}
		clean += same_pieces(t, buf_view(&in));
		for (k = 0; k < 2; k++) {
			scrub_stream_free(t[k]);
			scrub_unref(s[k]);
		}
	}
	/* what follows a beginning is the missing byte now and then */
	CHECK(clean > i / 10 * 9);
}

static void a_secret_inside_another_and_repeated_ones_are_all_replaced(void)
{
	const struct scrub_pair pairs[] = {
		{sv_of("ababab"), sv_of("FIRST")},
		{sv_of("abababcdefgh"), sv_of("SECOND")},
		{sv_of("ababab"), sv_of("THIRD")},
	};
	char text[] = "[abababcdefgX abababab abababcdefgh]";
	struct scrub *s = NULL;

	CHECK(scrub_new(pairs, 3, &s) == 0);
	CHECK(scrub_text(s, text, strlen(text)) > 0);
	CHECK(!strstr(text, "abab"));
	CHECK(strstr(text, "SECONDSECOND]"));
	CHECK(strstr(text, "[FIRSTFcdefgX "));
	scrub_unref(s);
}

static void headers_are_scrubbed_by_value_and_dropped_by_name(void)
{
	struct scrub *s = make("abcdef-123456");
	struct arena *a = arena_new();
	struct http_field v[] = {
		{sv_of("x-echo"), sv_of("Bearer abcdef-123456")},
		{sv_of("x-abcdef-123456"), sv_of("1")},
		{sv_of("x-coded"), sv_of("key=%61bcdef%2d123456;")},
		{sv_of("server"), sv_of("plain")},
	};
	struct http_fields f = {v, 4};
	const char *server = v[3].value.p;

	CHECK(scrub_fields(s, &f, a) >= 3);
	CHECK(f.n == 3);
	CHECK(sv_is(f.v[0].value, "Bearer sk-placeholde"));
	CHECK(sv_is(f.v[1].value, "key=sk-placeholdersk-;"));
	CHECK(sv_is(f.v[2].name, "server") && f.v[2].value.p == server);
	arena_free(a);
	scrub_unref(s);
}

static void a_name_that_was_put_into_lower_case_hides_nothing(void)
{
	static const char *const names[] = {"x-sk-secret+abcd.0123", "sk-secret+abcd.0123",
					    "x-u2stu2vjcmv0k0fiy0qumdeymw", "%53k-secret+a%62%43d.0123",
					    "x-536b2d5365637265742b416263442e30313233"};
	struct scrub *s = make("Sk-Secret+AbcD.0123");
	struct arena *a = arena_new();
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		struct http_field v[] = {{sv_of(names[i]), sv_of("1")},
					 {sv_of("server"), sv_of("sk-SECRET+abcd.0123 is another text")}};
		struct http_fields f = {v, 2};

		CHECK(scrub_fields(s, &f, a) >= 1);
		CHECK(f.n == 1 && sv_is(f.v[0].name, "server") &&
		      sv_is(f.v[0].value, "sk-SECRET+abcd.0123 is another text"));
	}
	arena_free(a);
	scrub_unref(s);
}

static void an_escape_cut_off_by_the_end_of_the_body_still_counts(void)
{
	struct scrub *s = make("secret%4");
	struct scrub_stream *t = scrub_stream_new(s);
	char text[] = "%73ecret%4";
	struct sv o;

	CHECK(scrub_stream_feed(t, text, strlen(text), &o) == 0);
	CHECK(o.n == 0);
	scrub_stream_end(t, &o);
	CHECK(sv_is(o, "sk-placeho"));
	scrub_stream_free(t);
	scrub_unref(s);
}

static void a_stream_outlives_its_set(void)
{
	struct scrub *s = make(key);
	struct scrub_stream *t = scrub_stream_new(s);
	char text[sizeof(key)];
	struct sv o;

	scrub_unref(s);
	memcpy(text, key, sizeof(key));
	CHECK(scrub_stream_feed(t, text, strlen(text), &o) == 0);
	scrub_stream_end(t, &o);
	CHECK(sv_starts(o, placeholder));
	scrub_stream_free(t);
}

static void too_short_and_too_long_secrets_are_refused(void)
{
	static char huge[9000];
	struct scrub_pair pair = {sv_of("short"), sv_of("p")};
	struct scrub *s = NULL;

	memset(huge, 'a', sizeof(huge) - 1);
	CHECK(scrub_new(&pair, 1, &s) == -EINVAL);
	pair.secret = sv_of(huge);
	CHECK(scrub_new(&pair, 1, &s) == -EINVAL);
	pair = (struct scrub_pair){sv_of("long enough"), sv_of("")};
	CHECK(scrub_new(&pair, 1, &s) == -EINVAL);
	CHECK(scrub_new(NULL, 0, &s) == 0);
	scrub_unref(s);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(no_form_of_a_secret_survives_however_it_is_split),
		CASE(data_without_a_secret_passes_unchanged),
		CASE(an_event_passes_at_once_and_a_tail_of_text_waits),
		CASE(what_time_released_is_gone_and_the_rest_is_still_replaced),
		CASE(a_stream_that_runs_looks_for_new_credentials),
		CASE(what_is_held_has_a_limit_that_covers_every_form),
		CASE(numbers_of_html_are_undone_with_zeros_before_them),
		CASE(names_of_html_are_undone),
		CASE(backslashes_before_signs_are_undone),
		CASE(the_longest_form_is_replaced_to_its_first_byte),
		CASE(what_is_held_back_says_nothing_of_the_secret),
		CASE(a_secret_inside_another_and_repeated_ones_are_all_replaced),
		CASE(headers_are_scrubbed_by_value_and_dropped_by_name),
		CASE(a_name_that_was_put_into_lower_case_hides_nothing),
		CASE(an_escape_cut_off_by_the_end_of_the_body_still_counts),
		CASE(a_stream_outlives_its_set),
		CASE(too_short_and_too_long_secrets_are_refused),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
