/*
 * memcpy() and memmove() for a cordon that is linked with musl, in place of its own: those move single bytes by an
 * instruction of which each takes as long as ten others, and a start copies some thousand short texts. Here the last
 * bytes are moved together, over some of those before them. Without a call, and without a loop for what is short.
 */
#include <stdint.h>
#include <string.h>

/* else the compiler would know these loops for what they are, and call them */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

static inline void move16(char *to, const char *from)
{
	__builtin_memcpy(to, from, 16);
}

static inline void move8(char *to, const char *from)
{
	__builtin_memcpy(to, from, 8);
}

static inline void move4(char *to, const char *from)
{
	__builtin_memcpy(to, from, 4);
}

static inline void move_short(char *to, const char *from, size_t n)
{
	if (n >= 8) {
		move8(to, from);
		move8(to + n - 8, from + n - 8);
	} else if (n >= 4) {
		move4(to, from);
		move4(to + n - 4, from + n - 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *t = to;
	const char *f = from;
	size_t i;

	if (n < 16) {
		move_short(t, f, n);
		return to;
	}
	for (i = 0; i < n - 16; i += 16)
		move16(t + i, f + i);
	move16(t + n - 16, f + n - 16);
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;
	size_t i;

	if (t == f)
		return to;
	if ((uintptr_t)t - (uintptr_t)f >= n && (uintptr_t)f - (uintptr_t)t >= n)
		return memcpy(to, from, n);
	if (t < f)
		for (i = 0; i < n; i++)
			t[i] = f[i];
	else
		for (i = n; i > 0; i--)
			t[i - 1] = f[i - 1];
	return to;
}
