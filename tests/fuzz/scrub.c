/*
 * Scrubbing, over any answer cut anywhere: the length stays, what was found is gone, and however the answer was cut the
 * result is the same. The first byte chooses the secret, the second the cuts.
 */
#include "gate/egress/scrub.h"

#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"

static void pass(struct scrub *s, const uint8_t *bytes, size_t n, unsigned step, struct buf *out)
{
	struct scrub_stream *t = scrub_stream_new(s);
	struct sv piece_out;
	char piece[256];
	size_t at, size;

	buf_init(out, n + 1);
	for (at = 0; t && at < n; at += size) {
		size = n - at < step ? n - at : step;
		memcpy(piece, bytes + at, size);
		if (scrub_stream_feed(t, piece, size, &piece_out) < 0)
			abort();
		(void)buf_sv(out, piece_out);
		step = step % 255 + 1;
	}
	if (!t)
		abort();
	scrub_stream_end(t, &piece_out);
	(void)buf_sv(out, piece_out);
	scrub_stream_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const secrets[] = {"secret-key", "aaaaaa",   "a%41b\\u0041",
					      "abababab",   "x y z+/=", "%25%25%25"};
	const struct scrub_pair pair = {sv_of(secrets[n ? bytes[0] % 6 : 0]), sv_of("PLACEHOLDER")};
	struct scrub *s = NULL;
	AUTO_BUF pieces = {0};
	AUTO_BUF bytewise = {0};

	if (n < 2 || scrub_new(&pair, 1, &s) < 0)
		return 0;
	pass(s, bytes + 2, n - 2, bytes[1] % 255 + 1, &pieces);
	pass(s, bytes + 2, n - 2, 1, &bytewise);
	if (pieces.n != n - 2 || !sv_eq(buf_view(&pieces), buf_view(&bytewise)))
		abort();
	if (pieces.n && memmem(pieces.p, pieces.n, pair.secret.p, pair.secret.n))
		abort();
	scrub_unref(s);
	return 0;
}
