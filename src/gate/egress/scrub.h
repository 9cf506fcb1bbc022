/*
 * scrub: credentials that an upstream sends back are replaced by their placeholders before the workload sees them.
 *
 * A struct scrub is built per run from all its credentials (all forms of vault/needle.h) and is shared by all answers; a refresh builds a new one, and streams that
 * run keep the old one alive. What is replaced keeps its length: the placeholder is cut, or repeated, to the length of what was found. So
 * Content-Length, chunk sizes and offsets stay true and nobody has to be told; only digests that an upstream computed over its body no longer
 * fit. (That the credential's length shows is the price; the upstream that echoed it gave as much away.)
 *
 * A stream holds bytes back only while they are the beginning of some form or of an escape, and lets go of all others within the same call: an event of a
 * stream of events is never kept waiting. The most it can hold is the longest form less one byte.
 *
 * Bodies must be decoded (Content-Encoding) before they come here, or not be compressed at all. Failure is -ENOMEM only; the answer must then be cut off.
 */
#ifndef CORDON_GATE_EGRESS_SCRUB_H
#define CORDON_GATE_EGRESS_SCRUB_H

#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"
#include "http/message.h"

struct scrub;
struct scrub_stream;

struct scrub_pair {
	struct sv secret;
	struct sv placeholder; /* not empty, plain ASCII */
};

/* Copies. 0; -EINVAL: a secret shorter than NEEDLE_MIN or longer than NEEDLE_MAX; -ENOMEM. No pairs: a scrub that finds nothing. */
int scrub_new(const struct scrub_pair *pairs, size_t n, struct scrub **ret);
struct scrub *scrub_ref(struct scrub *s);
void scrub_unref(struct scrub *s); /* NULL is fine; wipes */

struct scrub_stream *scrub_stream_new(struct scrub *s); /* NULL: no memory */
void scrub_stream_free(struct scrub_stream *t);

/* What may go out now, in this order. `held` is valid until the next call; `now` is the front of the bytes that were given. */
struct scrub_out {
	struct sv held;
	struct sv now;
};

/* The next bytes of a body; they are changed in place where a credential was. */
int scrub_stream_feed(struct scrub_stream *t, char *p, size_t n, struct scrub_out *ret);
/* The body is over: all that is left comes out in held. */
void scrub_stream_end(struct scrub_stream *t, struct scrub_out *ret);
/* How many credentials were replaced so far. */
uint64_t scrub_stream_hits(const struct scrub_stream *t);

/* A whole text, in place: a reason phrase, a header's value. The number of replacements, or -ENOMEM. */
int scrub_text(struct scrub *s, char *p, size_t n);

/*
 * All values of a head or of trailers. A value that changes is copied to the arena first; a field whose name holds a credential is
 * dropped. The number of replacements, or -ENOMEM.
 */
int scrub_fields(struct scrub *s, struct http_fields *f, struct arena *a);

#endif
