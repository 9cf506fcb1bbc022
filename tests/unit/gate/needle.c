#include "vault/needle.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "draw.h"

enum { HITS = 256, TEXTS = 20000, TEXT = 160 };

struct hit {
	uint32_t needle;
	uint64_t start, end;
};

struct hits {
	struct hit v[HITS];
	size_t n;
};

static void on_hit(void *arg, uint32_t needle, uint64_t start, uint64_t end)
{
	struct hits *h = arg;

	if (h->n < HITS)
		h->v[h->n++] = (struct hit){needle, start, end};
}

/* most: bytes of a piece. A piece of one byte leaves nothing to pass over: each byte is looked at. */
static uint64_t scan(struct needle_set *set, struct sv text, unsigned most, struct hits *ret)
{
	struct needle_scan *s = needle_scan_new(set, on_hit, ret);
	uint64_t safe;
	size_t at, n;

	ret->n = 0;
	CHECK(s != NULL);
	for (at = 0; s && at < text.n; at += n) {
		n = most > 1 ? 1 + draw(most) : 1;
		n = n < text.n - at ? n : text.n - at;
		CHECK(needle_scan_feed(s, text.p + at, n) == 0);
	}
	safe = s ? needle_scan_safe(s) : 0;
	if (s)
		needle_scan_end(s);
	needle_scan_free(s);
	return safe;
}

/* Pieces of the needles and of their escapes, and bytes of a small alphabet, so that much nearly fits. */
static void make_text(struct buf *out, const struct sv *needles, size_t n)
{
	static const char *const escapes[] = {"%",          "\\",      "%6",        "%61",       "\\u006",
					      "\\u0061",    "%2561",   "\\\\",      "\\-",       "\\%",
					      "\\&",        "%25",     "&",         "&#9",       "&#97;",
					      "&#00",       "&#0097;", "&#x00061;", "&amp",      "&amp;",
					      "&amp;#x61;", "&AMP",    "&lowbar;",  "&UnderBar", "&DiacriticalGrave;"};
	size_t room = draw(TEXT), from, k;

	buf_clear(out);
	while (out->n < room) {
		const struct sv *needle = &needles[draw((unsigned)n)];

		switch (draw(4)) {
		case 0:
			from = draw((unsigned)needle->n);
			(void)buf_add(out, needle->p + from, 1 + draw((unsigned)(needle->n - from)));
			break;
		case 1:
			(void)buf_str(out, escapes[draw((unsigned)ARRAY_LEN(escapes))]);
			break;
		case 2:
			(void)buf_sv(out, *needle);
			break;
		default:
			for (k = draw(20); k; k--)
				(void)buf_char(out, (char)('a' + draw(4)));
			break;
		}
	}
}

static void compare(struct needle_set *set, struct sv text)
{
	static const unsigned most[] = {2, 7, 40, 4 * TEXT};
	static struct hits one, other;
	uint64_t safe = scan(set, text, 1, &one);
	size_t i;

	for (i = 0; i < ARRAY_LEN(most); i++) {
		CHECK(scan(set, text, most[i], &other) == safe);
		CHECK(other.n == one.n && memcmp(other.v, one.v, one.n * sizeof(one.v[0])) == 0);
	}
}

static void compare_with(const char *const *texts, size_t n)
{
	struct sv needles[8];
	struct needle_set *set = NULL;
	AUTO_BUF text = {0};
	size_t i;

	buf_init(&text, 4096);
	for (i = 0; i < n; i++)
		needles[i] = sv_of(texts[i]);
	CHECK(needle_set_new(needles, n, &set) == 0);
	for (i = 0; set && i < TEXTS; i++) {
		make_text(&text, needles, n);
		compare(set, buf_view(&text));
	}
	CHECK(!buf_failed(&text));
	needle_set_unref(set);
}

static void what_is_passed_over_has_nothing_in_it(void)
{
	/* repetitions, shared starts and ends, one within another, escapes inside, the least length; with a backslash
	 * and without */
	static const char *const texts[] = {"aaaaaab",  "abcabcabd", "bcabca",   "a%b\\cd",
					    "cadacada", "dddddd",    "a&b&#99;d"};
	static const char *const without[] = {"aaaaaab", "abcabcabd", "b-ca%bca", "ca-dacada", "-dddddd", "a&b&#99;d"};

	compare_with(texts, ARRAY_LEN(texts));
	compare_with(without, ARRAY_LEN(without));
}

static void a_needle_is_found_at_every_place(void)
{
	static const char needle[] = "sk-0123456789abcdef";
	const struct sv needles[] = {sv_of(needle)};
	struct needle_set *set = NULL;
	struct hits hits;
	char text[200];
	size_t i;

	CHECK(needle_set_new(needles, 1, &set) == 0);
	for (i = 0; set && i + sizeof(needle) - 1 <= sizeof(text); i++) {
		memset(text, 'x', sizeof(text));
		memcpy(text + i, needle, sizeof(needle) - 1);
		(void)scan(set, sv_n(text, sizeof(text)), sizeof(text) * 4, &hits);
		CHECK(hits.n == 1 && hits.v[0].start == i && hits.v[0].end == i + sizeof(needle) - 1);
	}
	needle_set_unref(set);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_is_passed_over_has_nothing_in_it),
		CASE(a_needle_is_found_at_every_place),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
