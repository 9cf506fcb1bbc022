#include "gate/inference/spelling.h"

/* The next character of a name as it is compared, and how many bytes it took; -1 at the end. */
static int next_folded(struct sv *s)
{
	int c = -1;
	size_t n = 1;

	while (s->n && *s->p == '_')
		*s = sv_n(s->p + 1, s->n - 1);
	if (s->n == 0)
		return -1;
	if (sv_starts(*s, "\xc5\xbf")) {
		c = 's';
		n = 2;
	} else if (sv_starts(*s, "\xe2\x84\xaa")) {
		c = 'k';
		n = 3;
	} else {
		c = (unsigned char)*s->p;
		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
	}
	*s = sv_n(s->p + n, s->n - n);
	return c;
}

/* rest: more of a may follow. */
static bool alike(struct sv a, const char *b, bool rest)
{
	struct sv want = sv_of(b);
	int c;

	do {
		c = next_folded(&want);
		if (c < 0 && rest)
			return true;
		if (c != next_folded(&a))
			return false;
	} while (c >= 0);
	return true;
}

bool spelling_alike(struct sv a, const char *b)
{
	return alike(a, b, false);
}

bool spelling_ends(struct sv a, const char *b)
{
	for (; a.n; a = sv_n(a.p + 1, a.n - 1))
		if (alike(a, b, false))
			return true;
	return false;
}

bool spelling_has(struct sv a, const char *b)
{
	for (; a.n; a = sv_n(a.p + 1, a.n - 1))
		if (alike(a, b, true))
			return true;
	return false;
}

uint32_t spelling_odd(const struct json_scan *s, uint32_t object, const char *const *names)
{
	const char *const *n;
	uint32_t i;

	for (i = json_scan_first(s, object); i; i = json_scan_after(s, object, i))
		for (n = names; *n; n++)
			if (!sv_is(json_scan_text(s, i), *n) && spelling_alike(json_scan_text(s, i), *n))
				return i;
	return 0;
}
