/* Where the heap of cordon has its memory from, where it is linked with musl. */
#include "check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define mmap     mmap_under_test
#define munmap   munmap_under_test
#define __mmap   heap_mmap_under_test
#define __munmap heap_munmap_under_test
void *mmap_under_test(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int munmap_under_test(void *at, size_t size);
#include "../../src/base/map.c"

#include "base/cleanup.h"

enum { RW = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS };

static char *piece(size_t size)
{
	return heap_mmap_under_test(NULL, size, RW, OWN, -1, 0);
}

static bool is_zero(const char *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return n == 0;
}

static bool is_in_region(const char *p)
{
	return p >= region.start && p < region.end;
}

static void pieces_are_zero_and_apart(void)
{
	char *v[16];
	size_t i, size;

	for (i = 0; i < 16; i++) {
		size = 1000 + i * 3000;
		v[i] = piece(size);
		CHECK(v[i] != MAP_FAILED && is_zero(v[i], size));
		memset(v[i], (int)i + 1, size);
	}
	for (i = 0; i < 16; i++)
		CHECK(v[i][0] == (char)(i + 1) && v[i][1000 + i * 3000 - 1] == (char)(i + 1));
	for (i = 0; i < 16; i++)
		CHECK(munmap_under_test(v[i], 1000 + i * 3000) == 0);
}

static void a_piece_that_was_given_back_is_not_given_out_again(void)
{
	char *a = piece(PAGE), *b;

	memset(a, 'x', PAGE);
	CHECK(is_in_region(a) && munmap_under_test(a, PAGE) == 0);
	b = piece(PAGE);
	CHECK(b != a && is_zero(b, PAGE));
}

static void large_pieces_and_mappings_of_the_program_are_the_kernels(void)
{
	char *large = piece(SMALL + 1), *own = mmap_under_test(NULL, PAGE, RW, OWN, -1, 0);
	char *none = heap_mmap_under_test(NULL, PAGE, PROT_NONE, OWN, -1, 0);

	CHECK(!is_in_region(large) && !is_in_region(own) && !is_in_region(none));
	CHECK(munmap_under_test(large, SMALL + 1) == 0 && munmap_under_test(own, PAGE) == 0 &&
	      heap_munmap_under_test(none, PAGE) == 0);
}

static void where_the_region_is_used_up_the_kernel_gives_more(void)
{
	char *p = NULL;
	int i;

	for (i = 0; i <= REGION / SMALL; i++) {
		p = piece(SMALL);
		CHECK(p != MAP_FAILED && is_zero(p, SMALL));
		memset(p, 1, SMALL);
	}
	CHECK(!is_in_region(p) && munmap_under_test(p, SMALL) == 0);
}

static void a_size_that_cannot_be_is_refused(void)
{
	errno = 0;
	CHECK(piece(SIZE_MAX) == MAP_FAILED && errno == ENOMEM);
	errno = 0;
	CHECK(mmap_under_test(NULL, SIZE_MAX, RW, OWN, -1, 0) == MAP_FAILED && errno == ENOMEM);
	errno = 0;
	CHECK(piece(0) == MAP_FAILED && errno == EINVAL);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(pieces_are_zero_and_apart),
		CASE(a_piece_that_was_given_back_is_not_given_out_again),
		CASE(large_pieces_and_mappings_of_the_program_are_the_kernels),
		CASE(where_the_region_is_used_up_the_kernel_gives_more),
		CASE(a_size_that_cannot_be_is_refused),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
