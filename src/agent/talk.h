/*
 * talk: the conversation with a model, and the request that carries it.
 *
 * Nothing is kept at the server: each request has the whole of it. So that it fits, the outputs of old commands are cut
 * down to their beginnings, the oldest first, when the whole is longer than it may be; what the model itself said and
 * what it was asked stay as they are. The bytes of outputs may be anything: what is not UTF-8 becomes U+FFFD, NULs go.
 */
#ifndef CORDON_AGENT_TALK_H
#define CORDON_AGENT_TALK_H

#include "agent/reply.h"

enum {
	TALK_CONTEXT = 384 * 1024,	/* bytes to begin with: about a hundred thousand tokens */
	TALK_CONTEXT_LEAST = 16 * 1024, /* less is of no use */
	TALK_OUTPUT_TOKENS = 8192,	/* of one answer, where the API wants to be told */
};

struct talk;

/* Strings are copied. NULL: no memory. */
struct talk *talk_new(enum api api, const char *model, struct sv instruction);
void talk_free(struct talk *t); /* NULL is fine */

extern const char talk_system[]; /* what a model is told before the instruction */

/* Each 0, or -ENOMEM. */
int talk_add_reply(struct talk *t, const struct reply *r);
int talk_add_result(struct talk *t, const struct reply_call *call, struct sv output, bool failed);
int talk_add_words(struct talk *t, const char *words); /* of the user */

/* The model says that it is too long: from now on half as much is kept. -E2BIG: there is nothing left to cut. */
int talk_shrink(struct talk *t);

/* The body of the next request. -E2BIG: it does not fit any more, whatever is cut. */
int talk_request(struct talk *t, struct buf *out);

#endif
