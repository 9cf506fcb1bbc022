#include "base/text.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/emoji.h"

size_t text_utf8(struct sv s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	static const unsigned char low[] = {0, 0, 0x80, 0x80, 0x80};
	unsigned char lo, hi;
	size_t n, i;

	if (s.n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < n)
		return 0;
	lo = low[n];
	hi = 0xbf;
	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f; /* surrogates */
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* What shows nothing, or moves what stands around it: C1 controls, soft hyphen, zero-width, joining and bidirectional
 * characters, fillers, line and paragraph separators, variation selectors, BOM, tags. */
static const struct {
	uint32_t first, last;
} deceptive[] = {
	{0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},   {0x115f, 0x1160},
	{0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f},
	{0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/* Of these, what a terminal obeys, or shows another text by: C1 controls, line ends, marks of direction. */
static const struct {
	uint32_t first, last;
} steering[] = {{0x80, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};

bool text_steers(uint32_t c)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(steering); i++)
		if (c >= steering[i].first && c <= steering[i].last)
			return true;
	return false;
}

uint32_t text_code_point(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = n == 1 ? p[0] : p[0] & (0xffU >> (n + 1));
	size_t i;

	for (i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fU);
	return c;
}

/* 0: none there. */
static uint32_t code_point_at(struct sv s, size_t at)
{
	size_t n = text_utf8(sv_n(s.p + at, s.n - at));

	return n ? text_code_point(s.p + at, n) : 0;
}

static bool is_deceptive(uint32_t c)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(deceptive); i++)
		if (c >= deceptive[i].first && c <= deceptive[i].last)
			return true;
	return false;
}

void text_escape(struct buf *out, struct sv s, size_t max)
{
	struct emoji before = {0};
	size_t i = 0, n, k;
	uint32_t c;

	while (i < s.n) {
		const unsigned char *p = (const unsigned char *)s.p + i;

		if (i >= max) {
			(void)buf_str(out, "...");
			return;
		}
		n = text_utf8(sv_n(s.p + i, s.n - i));
		c = n ? text_code_point(s.p + i, n) : 0;
		if (n == 1 && p[0] >= 0x20 && p[0] != 0x7f) {
			(void)buf_char(out, s.p[i]);
		} else if (n > 1 && (!is_deceptive(c) || emoji_belongs(&before, c, code_point_at(s, i + n)))) {
			(void)buf_add(out, p, n);
		} else {
			n = n ? n : 1;
			for (k = 0; k < n; k++)
				(void)buf_printf(out, "\\x%02x", p[k]);
		}
		emoji_add(&before, c);
		i += n;
	}
}

const char *text_show(struct text_shown *out, struct sv s)
{
	AUTO_BUF b = {0};

	buf_init(&b, sizeof(out->s) - 1);
	text_escape(&b, s, 200);
	(void)snprintf(out->s, sizeof(out->s), "%s", b.p ? b.p : "");
	return out->s;
}

/* Levenshtein distance, given up (returns limit + 1) for words too long to be a slip. */
static size_t distance(struct sv a, struct sv b, size_t limit)
{
	size_t row[65], i, j, diag, next;

	if (a.n > 64 || b.n > 64)
		return limit + 1;
	for (j = 0; j <= b.n; j++)
		row[j] = j;
	for (i = 1; i <= a.n; i++) {
		diag = row[0];
		row[0] = i;
		for (j = 1; j <= b.n; j++) {
			next = diag + (a.p[i - 1] != b.p[j - 1]);
			diag = row[j];
			if (row[j] + 1 < next)
				next = row[j] + 1;
			if (row[j - 1] + 1 < next)
				next = row[j - 1] + 1;
			row[j] = next;
		}
	}
	return row[b.n];
}

const char *text_nearest(struct sv word, const char *const *candidates)
{
	size_t best = word.n / 3 + 1, d;
	const char *found = NULL;

	for (; *candidates; candidates++) {
		d = distance(word, sv_of(*candidates), best);
		/* half of a word, and not its start: another word (tcsh is not meant to be bash) */
		if (d * 2 >= strlen(*candidates) && (!word.n || word.p[0] != **candidates))
			continue;
		if (d <= best && d < strlen(*candidates)) {
			if (d == best && found)
				continue;
			best = d;
			found = *candidates;
		}
	}
	return found;
}

size_t text_space(struct sv s)
{
	/* beyond ASCII: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000 */
	static const char *const wide[] = {"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
					   "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};
	size_t i;

	if (!s.n)
		return 0;
	if (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r'))
		return 1;
	for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (sv_starts(s, wide[i]))
			return strlen(wide[i]);
	return sv_starts(s, "\xe2\x80") && s.n > 2 && (unsigned char)s.p[2] >= 0x80 && (unsigned char)s.p[2] <= 0x8a
		       ? 3
		       : 0;
}

struct sv text_trim_left(struct sv s)
{
	size_t n;

	while ((n = text_space(s)) > 0)
		s = sv_n(s.p + n, s.n - n);
	return s;
}

struct sv text_trim(struct sv s)
{
	size_t k;

	s = text_trim_left(s);
	do {
		for (k = 1; k <= 3 && k <= s.n; k++)
			if (text_space(sv_n(s.p + s.n - k, k)) == k)
				break;
		if (k > 3 || k > s.n)
			break;
		s.n -= k;
	} while (s.n);
	return s;
}
