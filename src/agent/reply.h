/*
 * reply: what a model answered, in one form for every API.
 *
 * Answers come from outside and from a model that reads what hostile files say: the bytes are read by base/json_scan.h
 * (no duplicates, no invalid UTF-8, bounded nesting and number of values), and here only what is needed is looked at. A
 * call that cannot be carried out (another tool, no command, arguments that are no JSON) is no reason to stop: it has a
 * `fault`, which is what the model is told.
 *
 * Everything lives in the caller's arena.
 */
#ifndef CORDON_AGENT_REPLY_H
#define CORDON_AGENT_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum { REPLY_MAX = 16 << 20, REPLY_CALLS_MAX = 64 };

enum api { API_OPENAI, API_ANTHROPIC, API_GEMINI, APIS };

struct reply_call {
	const char *id; /* where the API has none, one of ours that begins with '#' */
	const char *name; /* of the tool, as it was called */
	const char *command;
	uint64_t timeout;  /* seconds; 0: it says nothing */
	const char *fault; /* NULL: it can be run */
};

struct reply {
	struct sv text; /* what it says; may be empty */
	struct reply_call *calls;
	size_t n_calls;
	bool cut;	    /* it was not finished: its limit of tokens was reached */
	bool refused;	    /* it declines to answer */
	const char *stop;   /* the API's word for why it ended; "" */
	struct sv echo;	    /* the message as later requests repeat it: one JSON object */
	uint64_t input, output; /* tokens */
};

/* Takes body's bytes apart in place. 0; -1 and *ret_why: fixed words to stand behind "the answer ". */
int reply_read(enum api api, struct buf *body, struct arena *a, struct reply *ret, const char **ret_why);

/* What an answer with a status of an error says of it, for people: "" where it says nothing. As it came, not escaped.
 */
const char *reply_error(struct buf *body, struct arena *a);

#endif
