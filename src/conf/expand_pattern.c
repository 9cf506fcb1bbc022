#include "conf/expand.h"

#include "base/text.h"

enum { STEPS_MAX = 1 << 22 };

/* One element of a pattern. */
struct element {
	enum { LITERAL, ANY, STAR } kind;
	struct sv text; /* of a literal: one character */
};

/* Takes the next element off p. -1: an escape that nothing knows. */
static int next_element(struct sv *p, struct element *e)
{
	size_t skip = 0, n;

	*e = (struct element){LITERAL, *p};
	if (p->p[0] == '*' || p->p[0] == '?') {
		e->kind = p->p[0] == '*' ? STAR : ANY;
	} else if (p->p[0] == '\\') {
		if (p->n < 2 || !memchr("*?\\}/", p->p[1], 5))
			return -1;
		skip = 1;
	}
	n = text_utf8(sv_n(p->p + skip, p->n - skip));
	n = n ? n : 1;
	e->text = sv_n(p->p + skip, n);
	*p = sv_n(p->p + skip + n, p->n - skip - n);
	return 0;
}

static int pattern_is_valid(struct sv p)
{
	struct element e;

	while (p.n)
		if (next_element(&p, &e) < 0)
			return -1;
	return 0;
}

/* The pattern, known to be valid, is all of s. Stars go back to the last one only, so the time is the product of the
 * lengths. */
static bool matches(struct sv p, struct sv s, size_t *steps)
{
	struct sv star_p = {0}, star_s = {0};
	bool starred = false;
	struct element e;
	size_t n;

	while (s.n || p.n) {
		struct sv rest = p;

		if (++*steps > STEPS_MAX)
			return false;
		if (p.n) {
			(void)next_element(&rest, &e);
			if (e.kind == STAR) {
				starred = true;
				star_p = p = rest;
				star_s = s;
				continue;
			}
			n = s.n ? text_utf8(s) : 0;
			if (n && s.p[0] != '\n' && e.kind == ANY) {
				p = rest;
				s = sv_n(s.p + n, s.n - n);
				continue;
			}
			if (e.kind == LITERAL && s.n >= e.text.n && memcmp(s.p, e.text.p, e.text.n) == 0) {
				p = rest;
				s = sv_n(s.p + e.text.n, s.n - e.text.n);
				continue;
			}
		}
		if (!starred || !star_s.n || star_s.p[0] == '\n')
			return false;
		n = text_utf8(star_s);
		n = n ? n : 1;
		s = star_s = sv_n(star_s.p + n, star_s.n - n);
		p = star_p;
	}
	return true;
}

static bool at_character(struct sv s, size_t i)
{
	return i == s.n || ((unsigned char)s.p[i] & 0xc0) != 0x80;
}

int expand_trim(struct sv pattern, struct sv value, bool at_end, bool longest, struct sv *ret)
{
	size_t k, steps = 0;

	*ret = value;
	if (pattern_is_valid(pattern) < 0)
		return -1;
	for (k = 0; k <= value.n; k++) {
		size_t len = longest ? value.n - k : k;
		size_t cut = at_end ? value.n - len : len;

		if (!at_character(value, cut))
			continue;
		if (!at_end && matches(pattern, sv_n(value.p, cut), &steps)) {
			*ret = sv_n(value.p + cut, value.n - cut);
			break;
		}
		if (at_end && matches(pattern, sv_n(value.p + cut, len), &steps)) {
			*ret = sv_n(value.p, cut);
			break;
		}
	}
	return steps > STEPS_MAX ? -1 : 0;
}

int expand_find(struct sv pattern, struct sv value, size_t from, size_t *ret_start, size_t *ret_end)
{
	size_t start, end, steps = 0;

	if (pattern_is_valid(pattern) < 0)
		return -1;
	for (start = from; start <= value.n; start++) {
		if (!at_character(value, start))
			continue;
		for (end = value.n;; end--) {
			if (at_character(value, end) && matches(pattern, sv_n(value.p + start, end - start), &steps)) {
				*ret_start = start;
				*ret_end = end;
				return 1;
			}
			if (end == start)
				break;
		}
		if (steps > STEPS_MAX)
			return -1;
	}
	return 0;
}
