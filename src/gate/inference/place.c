#include "gate/inference/place.h"

#include <ctype.h>

/* Longer than the scheme of any URL, shorter than any picture. */
enum { SCHEME_MAX = 32 };

/* What strip() takes for a blank besides those of ASCII, and what shows as nothing. */
static size_t blank_size(struct sv s)
{
	static const char *const blanks[] = {
		"\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe1\xa0\x8e", "\xe2\x80\xa8", "\xe2\x80\xa9",
		"\xe2\x80\xaf", "\xe2\x81\x9f", "\xe2\x81\xa0", "\xe3\x80\x80", "\xef\xbb\xbf",
	};
	size_t i;

	if ((unsigned char)s.p[0] <= ' ' || s.p[0] == 0x7f)
		return 1;
	/* U+2000 to U+200F */
	if (s.n >= 3 && memcmp(s.p, "\xe2\x80", 2) == 0 && (unsigned char)s.p[2] <= 0x8f)
		return 3;
	for (i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++)
		if (sv_starts(s, blanks[i]))
			return strlen(blanks[i]);
	return 0;
}

/* An escape of the canonical form: of a control, but for those of a quote and a backslash. */
static size_t control_size(struct sv s)
{
	if (s.n < 2 || s.p[0] != '\\' || s.p[1] == '"' || s.p[1] == '\\')
		return 0;
	return s.p[1] == 'u' && s.n >= 6 ? 6 : 2;
}

/* Its next byte that counts, which is left; or -1. blank: there were others before it. */
static int peek(struct sv *s, bool *blank)
{
	size_t n;

	for (*blank = false; s->n; *s = sv_n(s->p + n, s->n - n)) {
		n = blank_size(*s);
		n = n ? n : control_size(*s);
		if (!n)
			return (unsigned char)s->p[0];
		*blank = true;
	}
	return -1;
}

/* Of an escaped quote or backslash both halves are taken, and the first one given. */
static int take(struct sv *s)
{
	bool blank;
	int c = peek(s, &blank);
	size_t n = c == '\\' && s->n > 1 ? 2 : 1;

	if (c >= 0)
		*s = sv_n(s->p + n, s->n - n);
	return c;
}

bool place_has_scheme(struct sv text)
{
	int i, c = 0;

	for (i = 0; i < SCHEME_MAX && c >= 0; i++) {
		c = take(&text);
		if (c == ':')
			return true;
	}
	return false;
}

/* Behind the colon of http or https no slash is needed, but "HTTP: a protocol" is none. */
static bool is_web(const char *scheme, struct sv rest)
{
	bool blank;
	int c = peek(&rest, &blank);

	return (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) && c >= 0 && !blank;
}

/* "//", or what is read as that. */
static bool has_slashes(struct sv rest)
{
	int i, c;

	for (i = 0; i < 2; i++) {
		c = take(&rest);
		if (c != '/' && c != '\\')
			return false;
	}
	return true;
}

bool place_is_url(struct sv text)
{
	char scheme[SCHEME_MAX] = "";
	size_t n = 0;
	int c;

	while ((c = take(&text)) >= 0 && (isalnum(c) || c == '+' || c == '.' || c == '-'))
		if (n + 1 < sizeof(scheme))
			scheme[n++] = (char)tolower(c);
	return c == ':' && (has_slashes(text) || is_web(scheme, text));
}
