/*
 * The decoder of policies: any bytes, no crash; and what decodes encodes to the same bytes again.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "policy/policy_codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv in = sv_n((const char *)bytes, n);
	AUTO_BUF out = {0};
	struct policy *p;

	if (policy_decode(in, &p) < 0)
		return 0;
	buf_init(&out, POLICY_CODEC_MAX);
	if (policy_encode(p, &out) < 0 || !sv_eq(in, buf_view(&out)))
		abort();
	policy_free(p);
	return 0;
}
