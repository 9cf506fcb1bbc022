/*
 * usage_strip: takes the event with the usage out of a stream of OpenAI, for a client that did not ask for it.
 *
 * The gateway asks for usage itself (judge.h), and the event that answers has an empty list of choices, which a client
 * that has not asked is not made for.
 *
 * Bytes are fed as they arrive and in whatever pieces. What is held back is an event from its start up to where it is
 * known not to be that one, which is the end of its first line of data, and never more than USAGE_STRIP_MAX bytes: what
 * is longer, is no JSON or has several lines of data passes as it came. Comments and all other events pass byte for
 * byte.
 */
#ifndef CORDON_GATE_INFERENCE_USAGE_STRIP_H
#define CORDON_GATE_INFERENCE_USAGE_STRIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { USAGE_STRIP_MAX = 8 * 1024 };

/* Members are usage_strip.c's own. */
struct usage_strip {
	struct buf held;   /* of the event that is open */
	size_t line;	   /* where in it the open line begins */
	uint8_t in;	   /* what is done with the open event, or comment */
	uint8_t after_cr;  /* where a CR went: its LF goes there, too */
	bool found;	   /* the event that is held has the usage */
	bool line_is_empty; /* of an event that passes: its open line */
};

void usage_strip_init(struct usage_strip *s);
void usage_strip_done(struct usage_strip *s);

/* Appends what passes now to out; what neither passes nor is held (held.n) is gone. 0 or -ENOMEM. */
int usage_strip_feed(struct usage_strip *s, struct sv bytes, struct buf *out);
/* The same for what is held, when nothing more comes. */
int usage_strip_end(struct usage_strip *s, struct buf *out);

#endif
