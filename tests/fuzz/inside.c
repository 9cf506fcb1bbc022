/*
 * What PID 1 of a sandbox is told to start: any bytes, no crash; and what decodes is sound and encodes to the same
 * bytes again.
 */
#include "model/inside.h"

#include <stdlib.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv in = sv_n((const char *)bytes, n);
	struct inside_spawn s;
	AUTO_BUF out = {0};

	if (inside_spawn_decode(in, &s) < 0) {
		inside_spawn_done(&s);
		return 0;
	}
	buf_init(&out, n + 64);
	inside_spawn_encode(&s, &out);
	if (!sv_eq(in, buf_view(&out)) || !s.argv[0])
		abort();
	inside_spawn_done(&s);
	return 0;
}
