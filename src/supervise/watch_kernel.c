#include "supervise/watch_kernel.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/watch_proc.h"

enum { LEAST_SHARE = 8, GROWS_SHARE = 32, COUNT_SHARE = 5, AGAIN_US = 1000000, AGAIN_SHARE = 20 };

struct watch_memory watch_kernel_memory(const char *meminfo)
{
	static const char *const named[] = {
		"\nMemFree:",    "\nBuffers:",       "\nCached:",     "\nSwapCached:",
		"\nAnonPages:",  "\nSReclaimable:",  "\nSUnreclaim:", "\nKernelStack:",
		"\nPageTables:", "\nSecPageTables:", "\nPercpu:",     "\nHugetlb:",
	};
	uint64_t all = watch_proc_number(meminfo, "MemTotal:"), sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(named); i++)
		sum += watch_proc_number(meminfo, named[i]);
	return (struct watch_memory){watch_proc_number(meminfo, "\nSUnreclaim:") * 1024,
				     (all > sum ? all - sum : 0) * 1024};
}

static struct watch_memory read_memory(void)
{
	AUTO_FD fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return watch_kernel_memory(text);
}

static void lower(struct watch_memory *m, const struct watch_memory *to)
{
	m->slab = to->slab < m->slab ? to->slab : m->slab;
	m->pages = to->pages < m->pages ? to->pages : m->pages;
}

/* By how much it grew, since then. */
static uint64_t grown(const struct watch_kernel *k, const struct watch_memory *then)
{
	uint64_t slab = k->now.slab > then->slab ? k->now.slab - then->slab : 0;
	uint64_t pages = k->now.pages > then->pages ? k->now.pages - then->pages : 0;

	return slab + pages;
}

/* Fewer are any program's. */
static bool are_many(const struct watch_kernel *k, uint64_t limit)
{
	return k->all || k->found > limit / LEAST_SHARE;
}

void watch_kernel_init(struct watch_kernel *k)
{
	*k = (struct watch_kernel){.now = read_memory()};
	k->seen = k->before = k->last = k->now;
}

bool watch_kernel_due(struct watch_kernel *k, uint64_t limit, uint64_t used, uint64_t now_us)
{
	uint64_t left = used < limit ? limit - used : 0;

	k->last = k->now;
	k->now = read_memory();
	lower(&k->before, &k->now);
	if (!are_many(k, limit))
		lower(&k->seen, &k->now); /* what others gave back */
	if (now_us < k->after_us)
		return false;
	if (left < limit / LEAST_SHARE)
		left = limit / LEAST_SHARE;
	return grown(k, &k->seen) > left || k->hidden == 1 || (are_many(k, limit) && now_us >= k->again_us);
}

bool watch_kernel_grows(const struct watch_kernel *k, uint64_t limit)
{
	return limit && grown(k, &k->last) > limit / GROWS_SHARE;
}

bool watch_kernel_is_over(const struct watch_kernel *k, uint64_t bytes, uint64_t limit)
{
	return bytes > limit && grown(k, &k->before) > limit;
}

void watch_kernel_counted(struct watch_kernel *k, const struct watch_kernel_count *c, uint64_t limit, uint64_t now_us,
			  uint64_t spent_us)
{
	uint64_t again = spent_us * AGAIN_SHARE;

	k->hidden = c->hidden ? k->hidden + 1 : 0;
	k->all = c->cut || k->hidden > 1;
	k->found = c->n * WATCH_KERNEL_BYTES;
	k->found = c->bytes > UINT64_MAX - k->found ? UINT64_MAX : c->bytes + k->found;
	k->seen = k->now;
	/* who has many and makes more is not left alone for long */
	k->after_us = now_us + (are_many(k, limit) ? spent_us : spent_us * (COUNT_SHARE - 1));
	k->again_us = now_us + (again > AGAIN_US ? again : AGAIN_US);
}

uint64_t watch_kernel_bytes(const struct watch_kernel *k, uint64_t limit)
{
	uint64_t most = grown(k, &k->before);

	if (!are_many(k, limit))
		return 0;
	return k->all || k->found > most ? most : k->found;
}
