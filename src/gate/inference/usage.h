/*
 * usage: counts tokens from what a reply says about itself, while it passes.
 *
 * Bytes are fed as they arrive and in whatever pieces; nothing is held back or kept: the state is one small struct of
 * fixed size. Feed decoded bytes (no content coding: egress asks providers for identity), of a JSON body or of a stream
 * of server-sent events.
 *
 * Read are the `usage` of Anthropic (of a reply, `message.usage` of message_start, `usage` of message_delta), of OpenAI
 * (chat, completions, embeddings; `response.usage` of the responses' events) and `usageMetadata` of Gemini (each chunk,
 * also of an array), at exactly these places: text that a model writes cannot be taken for it.
 *
 * Numbers of a malicious upstream: negative ones are nothing, large ones stop at USAGE_MAX, a smaller one never takes
 * back a larger one (all of them are cumulative within a reply). What a total has beyond input and output is output. An
 * upstream that says too little is believed, but one that says nothing is not: then the reply counts by its size. Where
 * it is cut before its last word (a client could hang up to have it uncounted), it counts as all that it might have
 * had. The last word of a JSON object is its number for output; of a stream it is the event that ends it ([DONE],
 * message_stop, response.completed and its like), whatever numbers came before: there are servers that tell with each
 * event what was written so far. A stream that has said it is complete, also where it is closed early then.
 */
#ifndef CORDON_GATE_INFERENCE_USAGE_H
#define CORDON_GATE_INFERENCE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"
#include "model/policy.h"

#define USAGE_MAX (UINT64_C(1) << 48)

struct usage_tokens {
	uint64_t input, output;
	uint64_t cache_read, cache_write; /* of Anthropic, not in input */
	uint64_t cut; /* of output, beyond what is known of: what a reply that was cut might have had */
};

enum { USAGE_LEVELS = 4, USAGE_NAME = 32, USAGE_FIELDS = 8 };

/* Plain data, to be embedded; members are usage.c's own. */
struct usage {
	enum provider_kind kind;
	bool sse;
	/* JSON: where we are */
	uint8_t level[USAGE_LEVELS]; /* what the open containers of these depths are */
	uint32_t depth;
	uint8_t in; /* outside, string, escape, \u, number */
	uint8_t hex, hex_left;
	char name[USAGE_NAME]; /* the last string, if it is short enough to be a name that counts */
	uint8_t name_len;
	bool named;   /* a colon has followed it: it is the key of what comes */
	bool type;    /* the string that is being read says what an event is */
	int8_t field; /* the number that is being read, or -1 */
	bool negative, fraction, exponent;
	uint64_t number;
	/* lines of a stream */
	uint8_t line_at; /* how much of "data:" has matched; see usage.c */
	uint8_t mark_at; /* how much of "[DONE]" has matched */
	bool after_cr, event_has_data;
	bool last;           /* the event that is open says that it is */
	uint64_t bytes;	     /* of the reply, of a stream those of the event that is open */
	uint64_t seen;	     /* tokens by the size of the events that are over */
	bool list;           /* a body is an array of chunks */
	bool told;	     /* some number of usage came */
	bool final;	     /* the one for output did */
	bool done;           /* the event that ends a stream has passed */
	uint64_t value[USAGE_FIELDS];
};

/* sse: the reply's content type is text/event-stream. */
void usage_init(struct usage *u, enum provider_kind kind, bool sse);
void usage_feed(struct usage *u, struct sv bytes);

/* What is known so far; never less than before. */
void usage_now(const struct usage *u, struct usage_tokens *ret);

/*
 * The same when the reply is over. may: tokens of output that the request might have had (output.h); 0: it is of those
 * that have none, and only what was reported counts. whole: all of the reply came; else it was cut, maybe before its
 * first byte, and a struct of zeros is fine for u.
 */
void usage_end(const struct usage *u, uint64_t may, bool whole, struct usage_tokens *ret);

#endif
