#include "supervise/watch_kernel.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/watch_proc.h"

enum { LEAST_SHARE = 8, COUNT_SHARE = 5, AGAIN_US = 1000000, AGAIN_SHARE = 20 };

uint64_t watch_kernel_slab(const char *meminfo)
{
	return watch_proc_number(meminfo, "\nSUnreclaim:") * 1024;
}

static uint64_t read_slab(void)
{
	AUTO_FD fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return watch_kernel_slab(text);
}

/* Fewer are any program's. */
static bool are_many(const struct watch_kernel *k, uint64_t limit)
{
	return k->all || k->found > limit / LEAST_SHARE;
}

bool watch_kernel_due(struct watch_kernel *k, uint64_t limit, uint64_t used, uint64_t now_us)
{
	uint64_t left = used < limit ? limit - used : 0;

	k->now = read_slab();
	if (!k->begun) {
		k->begun = true;
		k->seen = k->before = k->now;
	}
	if (k->now < k->before)
		k->before = k->now;
	if (k->seen > k->now && !are_many(k, limit))
		k->seen = k->now; /* what others gave back */
	if (now_us < k->after_us)
		return false;
	if (left < limit / LEAST_SHARE)
		left = limit / LEAST_SHARE;
	return k->now > k->seen + left || k->hidden == 1 || (are_many(k, limit) && now_us >= k->again_us);
}

void watch_kernel_counted(struct watch_kernel *k, const struct watch_kernel_count *c, uint64_t limit, uint64_t now_us, uint64_t spent_us)
{
	uint64_t again = spent_us * AGAIN_SHARE;

	k->hidden = c->hidden ? k->hidden + 1 : 0;
	k->all = c->cut || k->hidden > 1;
	k->found = c->n * WATCH_KERNEL_BYTES;
	k->seen = k->now;
	/* who has many and makes more is not left alone for long */
	k->after_us = now_us + (are_many(k, limit) ? spent_us : spent_us * (COUNT_SHARE - 1));
	k->again_us = now_us + (again > AGAIN_US ? again : AGAIN_US);
}

uint64_t watch_kernel_bytes(const struct watch_kernel *k, uint64_t limit)
{
	uint64_t grown = k->now - k->before;

	if (!are_many(k, limit))
		return 0;
	return k->all || k->found > grown ? grown : k->found;
}
