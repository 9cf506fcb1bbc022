/*
 * scrub: credentials that an upstream sends back are replaced by their placeholders before the workload sees them.
 *
 * A struct scrub is built from the credentials that are bound to a host (all forms of vault/needle.h) and is shared by
 * its answers; a refresh builds a new one, which streams that run are given too (scrub_stream_renew()). What is
 * replaced keeps its length: the placeholder is cut, or repeated, to the length of what was found. So Content-Length,
 * chunk sizes and offsets stay true and nobody has to be told; only digests that an upstream computed over its body no
 * longer fit. (That the credential's length shows is the price; the upstream that echoed it gave as much away.)
 *
 * What a stream holds back, and for how long, must not depend on the secrets: who can make an upstream say bytes of
 * their choice would see by it which of them begin a credential, and read it out letter by letter. So held back is the
 * longest tail of bytes of a fixed alphabet, 0x21 to 0x7e, in which every form of every credential is written, of
 * breaks between lines of base64 (behind NEEDLE_LINE bytes that may be of it, needle_runs.h), of single zeros between
 * its bytes (UTF-16), and of blanks behind three numbers of two digits (rows of hexadecimal: of one that only begins
 * there, its first two bytes are not held); at most scrub_hold() bytes of it. All before that goes out within the same
 * call: what ends in a newline or a blank (an event of a stream of events, a line) is never kept waiting, but for a
 * line that ends in so much of base64.
 *  - scrub_hold() is what the longest form can cover when it is escaped twice over, so nothing that can still become a
 * hit is let go for want of room; rounded up to a power of two from SCRUB_HOLD_MIN on, so that it tells of the longest
 * credential's length no more than its order of magnitude. It is 8 or 16 KiB with most keys.
 *  - A credential may have blanks inside. The alphabet of such a run has the blank too, and the run shows as much.
 *
 * What is held goes out when the stream goes on or ends. Only where it is made of messages (websockets, gRPC), and
 * behind a whole one, does the user call scrub_stream_release() when SCRUB_MESSAGE_MS passed without new bytes: a
 * message that ends in text must arrive, or the two sides would wait for each other. Looking goes on where it was. So
 * an upstream that divides a credential between messages, and stops for so long, gives away what it sent of it before;
 * the rest is still replaced once it is complete. The user must count only time in which it waits for the upstream: one
 * that stops reading would make the pause itself.
 *
 * A whole form that is found shows, by being replaced. To try whole credentials is guessing, which nobody gets through.
 * How long the search takes is not constant: it differs by nanoseconds per byte.
 *
 * Bodies must be decoded (Content-Encoding) before they come here, or not be compressed at all. Failure is -ENOMEM
 * only; the answer must then be cut off.
 */
#ifndef CORDON_GATE_EGRESS_SCRUB_H
#define CORDON_GATE_EGRESS_SCRUB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"
#include "http/message.h"

enum {
	SCRUB_MESSAGE_MS = 50,
	SCRUB_HOLD_MIN = 1024,
	SCRUB_HOLD_MAX = 2 * 1024 * 1024, /* with a credential of NEEDLE_MAX bytes */
};

struct scrub;
struct scrub_stream;

struct scrub_pair {
	struct sv secret;
	struct sv placeholder; /* not empty, plain ASCII */
};

/* Copies. 0; -EINVAL: a secret shorter than NEEDLE_MIN or longer than NEEDLE_MAX; -ENOMEM. No pairs: a scrub that finds
 * nothing. */
int scrub_new(const struct scrub_pair *pairs, size_t n, struct scrub **ret);
struct scrub *scrub_ref(struct scrub *s);
void scrub_unref(struct scrub *s); /* NULL is fine; wipes */

/* The most that a stream holds back. */
size_t scrub_hold(const struct scrub *s);

struct scrub_stream *scrub_stream_new(struct scrub *s); /* NULL: no memory */
void scrub_stream_free(struct scrub_stream *t);

/* The next bytes of a body; they are changed in place where a credential was. ret: what may go out now, valid until the
 * next call, or until p is changed. */
int scrub_stream_feed(struct scrub_stream *t, char *p, size_t n, struct sv *ret);
/* Other credentials are looked for from now on, in what is held too; of those before, what has begun is still found. 0
 * or -ENOMEM. */
int scrub_stream_renew(struct scrub_stream *t, struct scrub *s);
/* Is anything held back? */
bool scrub_stream_waits(const struct scrub_stream *t);
/* Enough time passed: all that is held back goes out. */
void scrub_stream_release(struct scrub_stream *t, struct sv *ret);
/* The body is over: the same, and nothing follows. */
void scrub_stream_end(struct scrub_stream *t, struct sv *ret);
/* How many credentials were replaced so far. */
uint64_t scrub_stream_hits(const struct scrub_stream *t);

/* A whole text, in place: a reason phrase, a header's value. The number of replacements, or -ENOMEM. */
int scrub_text(struct scrub *s, char *p, size_t n);

/*
 * All values of a head or of trailers. A value that changes is copied to the arena first; a field whose name holds a
 * credential, be it in lower case (as names are by now), is dropped. The number of replacements, or -ENOMEM.
 */
int scrub_fields(struct scrub *s, struct http_fields *f, struct arena *a);

#endif
