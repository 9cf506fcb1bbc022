/*
 * usage.h: the count does not depend on how a reply is split, never shrinks, and stays within its bounds. The first two
 * bytes choose the kind of provider and the pieces, the rest is the reply.
 */
#include "gate/inference/usage.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void check_grown(const struct usage_tokens *a, const struct usage_tokens *b)
{
	if (b->input < a->input || b->output < a->output || b->cache_read < a->cache_read ||
	    b->cache_write < a->cache_write || b->input > USAGE_MAX || b->output > USAGE_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct usage_tokens whole, now, before = {0};
	struct usage u, v;
	size_t at, step;

	if (n < 2)
		return 0;
	usage_init(&u, (enum provider_kind)(bytes[0] % 3), bytes[0] & 0x80);
	v = u;
	usage_feed(&u, sv_n((const char *)bytes + 2, n - 2));
	usage_end(&u, 100, n % 2, &whole);
	for (at = 2; at < n; at += step) {
		step = bytes[1] ? bytes[1] : 1 + bytes[at] % 7u;
		step = step < n - at ? step : n - at;
		usage_feed(&v, sv_n((const char *)bytes + at, step));
		usage_now(&v, &now);
		check_grown(&before, &now);
		before = now;
	}
	usage_end(&v, 100, n % 2, &now);
	check_grown(&before, &now);
	if (memcmp(&now, &whole, sizeof(now)) != 0)
		abort();
	return 0;
}
