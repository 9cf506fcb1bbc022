/*
 * Memory for the heap of a cordon that is linked with musl: what musl's heap calls in place of mmap() and munmap().
 *
 * A start makes some twenty pieces of heap, and gives some of them back. Each would be a call, one more region for the
 * kernel to copy at a fork and to take down at the end; and pages that come one by one, read by musl before it writes
 * to them, are taken back and given again, which interrupts all CPUs that have our memory in use: while a start makes
 * its plan, one beside us makes the namespaces in the same memory (sys/beside.h). So small pieces are cut off one
 * region, whose pages come some at a time before anybody looks at them, and stay there when they are given back: a
 * start gives back little. When the region is used up, and for large pieces, it is as in musl, but that pieces of some
 * size come with their pages.
 *
 * Like the heap itself, not for two at a time: nobody who works beside another in the same memory has a heap.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* SMALL: the table of guards is one of them: plan/guard_names.h. Linux has POPULATE_WRITE from 5.14 on; on others the
 * pages come one by one. */
enum { SMALL = 96 << 10, REGION = 768 << 10, AHEAD = 32 << 10, PAGE = 4096, POPULATE_WRITE = 23 };

static struct {
	char *start, *next, *there, *end; /* of the region: what was not given out yet, and what has no pages yet */
} region;

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

static bool have_region(void)
{
	char *p;

	if (region.start)
		return true;
	p = map(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	region.start = region.next = region.there = p;
	region.end = p + REGION;
	return true;
}

/* NULL: there is no room. */
static void *cut_off(size_t size)
{
	const int before = errno;
	size_t lacks;
	char *p;

	size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (!have_region() || (size_t)(region.end - region.next) < size) {
		errno = before;
		return NULL;
	}
	p = region.next;
	region.next += size;
	if (region.next > region.there) {
		lacks = (size_t)(region.next - region.there);
		lacks = lacks < AHEAD ? AHEAD : lacks;
		lacks = lacks < (size_t)(region.end - region.there) ? lacks : (size_t)(region.end - region.there);
		(void)syscall(SYS_madvise, region.there, lacks, POPULATE_WRITE);
		region.there += lacks;
	}
	errno = before;
	return p;
}

void *__mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	bool small = size && size <= SMALL && protection == (PROT_READ | PROT_WRITE) &&
		     flags == (MAP_PRIVATE | MAP_ANONYMOUS);
	void *piece = small && !at ? cut_off(size) : NULL;

	if (piece)
		return piece;
	if (size >= PTRDIFF_MAX) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return map(at, size, protection, small ? flags | MAP_POPULATE : flags, fd, offset);
}

/* The rest of the program has what it asks for. */
void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (size >= PTRDIFF_MAX) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return map(at, size, protection, flags, fd, offset);
}

/* The heap, too, calls this one by the name that all know. */
int munmap(void *at, size_t size)
{
	if (region.start && (char *)at >= region.start && (char *)at < region.end)
		return 0;
	return (int)syscall(SYS_munmap, at, size);
}

int __munmap(void *at, size_t size)
{
	return munmap(at, size);
}
