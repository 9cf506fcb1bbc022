/*
 * A SOCKS client's bytes: in one piece and byte by byte they mean the same, and no byte is taken that the parser was
 * not given.
 */
#include "gate/relay/socks.h"

#include <stdlib.h>

#include "fuzz.h"

struct outcome {
	struct socks s;
	enum socks_step step;
	size_t used;
	struct buf out;
};

static void feed(const uint8_t *bytes, size_t n, size_t piece, struct outcome *r)
{
	size_t used, k;

	socks_init(&r->s);
	buf_init(&r->out, 64);
	r->step = SOCKS_MORE;
	r->used = 0;
	while (r->step == SOCKS_MORE && r->used < n) {
		k = n - r->used < piece ? n - r->used : piece;
		r->step = socks_feed(&r->s, sv_n((const char *)bytes + r->used, k), &used, &r->out);
		if (used > k || (r->step == SOCKS_MORE && used != k))
			abort();
		r->used += used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct outcome a, b;

	feed(bytes, n, n ? n : 1, &a);
	feed(bytes, n, 1, &b);
	if (a.step != b.step || a.used != b.used || buf_failed(&a.out) || !sv_eq(buf_view(&a.out), buf_view(&b.out)))
		abort();
	if (a.step == SOCKS_CONNECT &&
	    (a.s.port == 0 || a.s.port != b.s.port || !sv_eq(socks_host(&a.s), socks_host(&b.s)) ||
	     socks_host(&a.s).n == 0 || memchr(a.s.host, '\0', a.s.host_n)))
		abort();
	buf_done(&a.out);
	buf_done(&b.out);
	return 0;
}
