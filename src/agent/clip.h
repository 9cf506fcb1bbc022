/*
 * clip: output of any length in bounded memory: its beginning and its end.
 *
 * Bytes go in as they come; kept are the first `head` and the last `tail` of them. clip_text() puts both together and
 * says, where something is missing, how much. Cuts never split a UTF-8 sequence.
 */
#ifndef CORDON_AGENT_CLIP_H
#define CORDON_AGENT_CLIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct clip {
	char *p; /* owned: head, then the ring of the tail */
	size_t head, tail;
	uint64_t n; /* bytes that came */
};

int clip_init(struct clip *c, size_t head, size_t tail); /* 0, or -ENOMEM */
void clip_done(struct clip *c);
void clip_add(struct clip *c, struct sv bytes);

/* Appends what was kept, with a line between head and tail where something is missing and there is a head. */
void clip_text(const struct clip *c, struct buf *out);
bool clip_is_cut(const struct clip *c);

#endif
