/*
 * sv: a borrowed run of bytes. Not NUL-terminated, owns nothing, may hold any byte.
 */
#ifndef CORDON_BASE_SV_H
#define CORDON_BASE_SV_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct sv {
	const char *p;
	size_t n;
};

static inline struct sv sv_of(const char *s)
{
	return (struct sv){s, strlen(s)};
}

static inline struct sv sv_n(const char *p, size_t n)
{
	return (struct sv){p, n};
}

static inline bool sv_eq(struct sv a, struct sv b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool sv_is(struct sv a, const char *s)
{
	return sv_eq(a, sv_of(s));
}

static inline bool sv_starts(struct sv a, const char *s)
{
	size_t n = strlen(s);
	return a.n >= n && memcmp(a.p, s, n) == 0;
}

static inline bool sv_ends(struct sv a, const char *s)
{
	size_t n = strlen(s);
	return a.n >= n && memcmp(a.p + a.n - n, s, n) == 0;
}

#endif
