#include "base/secret_memory.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return n > SIZE_MAX - page ? 0 : (n + page - 1) / page * page;
}

void *secret_memory_new(size_t n)
{
	size_t size = whole_pages(n);
	void *p;

	if (size == 0)
		return NULL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	/* Both are part of the promise; locking is as good as RLIMIT_MEMLOCK lets it be. */
	if (madvise(p, size, MADV_DONTDUMP) < 0 || madvise(p, size, MADV_WIPEONFORK) < 0) {
		(void)munmap(p, size);
		return NULL;
	}
	(void)mlock(p, size);
	return p;
}

int secret_memory_seal(void *p, size_t n)
{
	return mprotect(p, whole_pages(n), PROT_READ) < 0 ? -errno : 0;
}

void secret_memory_free(void *p, size_t n)
{
	if (!p)
		return;
	/* Where the pages cannot be made writable they cannot be wiped; the kernel clears them before anybody gets
	 * them. */
	if (mprotect(p, whole_pages(n), PROT_READ | PROT_WRITE) == 0)
		explicit_bzero(p, n);
	(void)munmap(p, whole_pages(n));
}

void secret_wipe(void *p, size_t n)
{
	if (p)
		explicit_bzero(p, n);
}
