/*
 * field_name: is the name of a header field, in lower case, the one that is looked for?
 *
 * All signs in names are one: behind CGI-like interfaces "x-a", "x_a" and (lighttpd) "x.a" or "x~a" are the same
 * variable. Whoever looks for a name asks here, so that none is missed in another spelling.
 */
#ifndef CORDON_BASE_FIELD_NAME_H
#define CORDON_BASE_FIELD_NAME_H

#include <stdbool.h>

#include "base/sv.h"

static inline bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static inline bool field_name_has(struct sv name, const char *start, size_t n)
{
	size_t i;

	if (name.n < n)
		return false;
	for (i = 0; i < n; i++)
		if (name.p[i] != start[i] && (is_letter_or_digit(start[i]) || is_letter_or_digit(name.p[i])))
			return false;
	return true;
}

static inline bool field_name_starts(struct sv name, const char *start)
{
	return field_name_has(name, start, strlen(start));
}

static inline bool field_name_is(struct sv name, const char *other)
{
	/* the first letter settles most of it */
	return name.n && name.p[0] == other[0] && name.n == strlen(other) && field_name_has(name, other, name.n);
}

/* Has it another sign than a hyphen? */
static inline bool field_name_is_odd(struct sv name)
{
	size_t i;

	for (i = 0; i < name.n; i++)
		if (!is_letter_or_digit(name.p[i]) && name.p[i] != '-')
			return true;
	return false;
}

#endif
