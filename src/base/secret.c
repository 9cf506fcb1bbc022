#include "base/secret.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* All of it is in the guarded pages: in a forked child the length reads as zero too. */
struct secret {
	size_t n;
	char bytes[];
};

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

void secret_memory_free(void *p, size_t n)
{
	if (!p)
		return;
	explicit_bzero(p, n);
	(void)munmap(p, whole_pages(n));
}

int secret_new(struct sv bytes, struct secret **ret)
{
	struct secret *s;

	if (bytes.n == 0 || bytes.n > SECRET_MAX)
		return -EINVAL;
	s = secret_memory_new(sizeof(*s) + bytes.n);
	if (!s)
		return -ENOMEM;
	s->n = bytes.n;
	memcpy(s->bytes, bytes.p, bytes.n);
	if (mprotect(s, whole_pages(sizeof(*s) + bytes.n), PROT_READ) < 0) {
		secret_memory_free(s, sizeof(*s) + bytes.n);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void secret_free(struct secret *s)
{
	size_t size;

	if (!s)
		return;
	size = sizeof(*s) + s->n;
	/* Where the pages cannot be made writable they cannot be wiped; the kernel clears them before anybody gets
	 * them. */
	if (mprotect(s, whole_pages(size), PROT_READ | PROT_WRITE) < 0)
		(void)munmap(s, whole_pages(size));
	else
		secret_memory_free(s, size);
}

int secret_use(const struct secret *s, int (*fn)(struct sv plain, void *arg), void *arg)
{
	return s->n ? fn(sv_n(s->bytes, s->n), arg) : -ENODATA;
}

size_t secret_size(const struct secret *s)
{
	return s->n;
}

bool secret_equal(const struct secret *s, struct sv bytes)
{
	volatile unsigned char differ = s->n != bytes.n || s->n == 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		differ |= (unsigned char)(s->bytes[i] ^ (bytes.n ? bytes.p[i % bytes.n] : 0));
	return differ == 0;
}

void secret_wipe(void *p, size_t n)
{
	if (p)
		explicit_bzero(p, n);
}
