/*
 * Answers of a container engine: how the bytes are cut changes nothing, and no more is kept than may be.
 */
#include "sandbox/docker/answer.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { MAX = 4096 };

/* In pieces of that size: what the last answer_add() that was needed said. */
static int feed(struct answer *a, struct sv all, size_t piece)
{
	size_t n;
	int r = 0;

	answer_init(a, MAX);
	while (all.n && r >= 0) {
		n = all.n < piece ? all.n : piece;
		r = answer_add(a, sv_n(all.p, n));
		all = sv_n(all.p + n, all.n - n);
	}
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv all = sv_n((const char *)bytes, n);
	AUTO_ANSWER whole = {0}, ones = {0}, threes = {0};
	int r = feed(&whole, all, n ? n : 1), one = feed(&ones, all, 1), three = feed(&threes, all, 3);

	if (r != one || r != three || whole.status != ones.status || whole.status != threes.status)
		abort();
	if (r == 1 &&
	    (!sv_eq(buf_view(&whole.body), buf_view(&ones.body)) ||
	     !sv_eq(buf_view(&whole.body), buf_view(&threes.body)) || whole.status < 200 || whole.status > 599))
		abort();
	if (whole.body.n > MAX || strlen(whole.api_version) >= sizeof(whole.api_version))
		abort();
	return 0;
}
