/* What cordon copies with where it is linked with musl: the same bytes, none beside them, however both overlap. */
#include "check.h"

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define memcpy	copy_under_test
#define memmove move_under_test
void *copy_under_test(void *restrict to, const void *restrict from, size_t n);
void *move_under_test(void *to, const void *from, size_t n);
#include "../../src/base/copy.c"
#undef memcpy
#undef memmove

#include "base/cleanup.h"

enum { LONGEST = 130, EDGE = 20, ROOM = LONGEST + 2 * EDGE };

static void fill(unsigned char *v)
{
	int i;

	for (i = 0; i < ROOM; i++)
		v[i] = (unsigned char)(i * 7 + 1);
}

static void a_copy_is_the_same_bytes_and_touches_no_others(void)
{
	unsigned char from[ROOM], to[ROOM];
	size_t n, a, i;

	for (n = 0; n <= LONGEST; n++) {
		for (a = 0; a < EDGE; a++) {
			fill(from);
			memset(to, 0xee, sizeof(to));
			CHECK(copy_under_test(to + a, from + EDGE - a, n) == to + a);
			for (i = 0; i < ROOM; i++)
				CHECK(to[i] == (i >= a && i < a + n ? from[EDGE - a + i - a] : 0xee));
		}
	}
}

static void a_move_is_right_however_both_overlap(void)
{
	unsigned char was[ROOM], v[ROOM];
	size_t n, a, b, i;

	for (n = 0; n <= LONGEST; n++) {
		for (a = 0; a < 2 * EDGE; a += 3) {
			for (b = 0; b < 2 * EDGE; b++) {
				fill(was);
				fill(v);
				CHECK(move_under_test(v + a, v + b, n) == v + a);
				for (i = 0; i < ROOM; i++)
					CHECK(v[i] == (i >= a && i < a + n ? was[b + i - a] : was[i]));
			}
		}
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_copy_is_the_same_bytes_and_touches_no_others),
		CASE(a_move_is_right_however_both_overlap),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
