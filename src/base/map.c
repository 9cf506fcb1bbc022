/*
 * mmap() for a cordon that is linked with musl, in place of its own, by both names that musl has for it.
 *
 * musl's heap reads the first bytes of what it maps before it writes there. The kernel shows it a page of zeros, and has to take that back a moment later, on all CPUs that have our memory in use: and while a start makes its plan,
 * one beside us makes the namespaces in the same memory (sys/beside.h). Each new piece of the heap costs an interrupt of that CPU then, 20 us, which is more than all else about it. So small pieces come with their pages.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { SMALL = 96 << 10 }; /* the table of guards is one of them: plan/guard_names.h */

void *__mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (size >= PTRDIFF_MAX) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (size <= SMALL && protection == (PROT_READ | PROT_WRITE) && flags == (MAP_PRIVATE | MAP_ANONYMOUS))
		flags |= MAP_POPULATE;
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return __mmap(at, size, protection, flags, fd, offset);
}
