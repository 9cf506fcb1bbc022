/*
 * exchange: one request's life, the same for HTTP/1.1 and HTTP/2.
 *
 *	head -> may anything be served? -> judged by the network rules, or as a request to a model -> placeholders ->
 * over the link to egress
 *	     -> body, as it comes; or collected first, where a rule or a model's name is in it -> answer, as it comes ->
 * end
 *
 * A session (session_h1.h, session_h2.h) owns the struct, tells what the client sent by the http_exchange_*() calls,
 * and is told what to answer by its struct exchange_client. What is refused never reached the link, or was taken back
 * (reset) before it was complete.
 *
 * Flow. Bytes of the request's body that the link has no credit for wait here: a session stops giving more while
 * http_exchange_ready() is false, and `moved` tells what is out of the way. Bytes of the answer are given by `data` as
 * they come; the session says with http_exchange_consumed() when the client has taken them, and egress stops after
 * LINK_WINDOW bytes that it has not.
 *
 * Placeholders (vault/placeholder_set.h). A request under a rule that names a credential may have them in fields and in
 * parameters of its query: these are left out, since egress puts its own there. Everywhere else the request is refused;
 * of a body that is passed on as it comes, no byte of a placeholder has left by then. Of a websocket the messages are
 * searched that the client does not compress (frames.h); all but the end of a placeholder may have left.
 *
 * Ownership. request and trailers are borrowed until the exchange is over: after `end`, `refuse`, `cut`, or
 * http_exchange_abort(). All of these leave the struct ready for the next http_exchange_begin(). In a call of the
 * client's table the exchange may be aborted, but not begun anew: but for `end`.
 */
#ifndef CORDON_RELAY_EXCHANGE_H
#define CORDON_RELAY_EXCHANGE_H

#include "base/buf.h"
#include "gate/relay/denial.h"
#include "gate/relay/relay.h"
#include "http/message.h"

struct http_exchange;
struct frames;
struct placeholder_scan; /* vault/placeholder_set.h */
struct net_form;	 /* policy/net_form.h */
struct usage_strip;	 /* gate/inference/usage_strip.h */

enum {
	EXCHANGE_COLLECTED_MAX = 256 << 20, /* bytes of all bodies that are being collected */
	EXCHANGE_HEADS_MAX = 32 << 20, /* bytes of all heads of requests that are not over; egress holds them too */
	EXCHANGE_FIELD = 32,           /* what a field costs besides its bytes */
};

/* How to answer. */
struct exchange_client {
	/* A head, interim or final. -1: it cannot be sent. */
	int (*head)(struct http_exchange *x, const struct http_response *r);
	void (*data)(struct http_exchange *x, struct sv bytes);
	/* The answer is complete. The request may not be: then nobody reads the rest of it. */
	void (*end)(struct http_exchange *x, const struct http_fields *trailers);
	/* Instead of an answer. */
	void (*refuse)(struct http_exchange *x, const struct denial *d);
	/* The answer ends amid its body. */
	void (*cut)(struct http_exchange *x);
	/* n bytes of the request's body are out of the way. */
	void (*moved)(struct http_exchange *x, size_t n);
};

enum exchange_state {
	EXCHANGE_IDLE,	  /* not begun, or over */
	EXCHANGE_COLLECT, /* the body is read before anything is sent */
	EXCHANGE_PASS,	  /* it is on the link */
};

/* The first four members are the session's to set, once. */
struct http_exchange {
	struct relay *relay;
	const struct http_origin *origin;
	const struct exchange_client *client;
	const struct http_request *request;

	/* exchange.c's own, and inference.c's. */
	enum exchange_state state;
	struct link_exchange *link;
	bool answered;	/* the final head has come */
	bool raw;	/* a websocket is open */
	bool all_given; /* the client's request is complete */
	bool all_sent;
	bool ended; /* all of the answer came */
	bool collected;
	size_t head;	/* its bytes, in relay_http.heads_open */
	size_t counted; /* of the body, in relay_http.collected */
	size_t collect_max;
	struct buf body; /* what waits to be sent, or to be complete */
	size_t body_at;	 /* of it was sent */
	size_t held;	 /* at its end: may be the start of a placeholder */
	const struct http_fields *trailers;
	struct placeholder_scan *scan;
	struct frames *frames; /* of a websocket */
	struct net_form *form; /* of a body that must not ask for another method; NULL: it may, or there is none */
	char *kind;   /* of what is allowed, to be settled (events.h); NULL: it was told */
	bool refused; /* by egress, before anything of it was answered */
	bool usage_added; /* by us, to a request for a stream of a model: see judge.h */
	struct usage_strip *strip; /* then, what its answer goes through; NULL: nothing */
	char *model; /* the one that is asked; NULL: none, or not judged yet */
	uint64_t bytes_out, bytes_in;
	uint64_t head_out; /* of bytes_out: the head */
};

void http_exchange_init(struct http_exchange *x, struct relay *r, const struct http_origin *o,
			const struct exchange_client *client);

/* Judges. The answer, where it is a refusal, comes before this returns. */
void http_exchange_begin(struct http_exchange *x, const struct http_request *req);
/* Of the body; of a websocket, after the answer that opens it. */
void http_exchange_data(struct http_exchange *x, struct sv bytes);
void http_exchange_end(struct http_exchange *x, const struct http_fields *trailers);
bool http_exchange_ready(const struct http_exchange *x);

/* n bytes of `data` are with the client. */
void http_exchange_consumed(struct http_exchange *x, size_t n);

/* The client is gone, or must not have more: nothing of the client's table is called any more. Idle ones are left
 * alone. */
void http_exchange_abort(struct http_exchange *x);

/* A new policy is in force: ends what it forbids. */
void http_exchange_judge_again(struct http_exchange *x);

static inline bool http_exchange_active(const struct http_exchange *x)
{
	return x->state != EXCHANGE_IDLE;
}

/* For the files that judge (exchange_judge.c, inference.c): */

/* Ends the exchange with an answer of ours. Always returns -1. */
int http_exchange_refuse(struct http_exchange *x, const struct denial *d);
/* The same with 503, for what may be tried again. */
int http_exchange_refuse_full(struct http_exchange *x, const char *what);
/* The same for one that is no refusal and has no body; of a request that is complete, so that its connection goes on.
 */
int http_exchange_answer(struct http_exchange *x, const struct http_response *r);

/* Waits for the whole body, at most max bytes; then judges again. */
int http_exchange_collect(struct http_exchange *x, size_t max);

/* Sends the head, and what was collected. 0, or -1: refused. */
int http_exchange_send(struct http_exchange *x, const struct http_request *head, uint32_t provider);

/* Judges the request, with x->body where it was collected, and calls one of the above. 0 or -1: refused. */
int http_exchange_judge_network(struct http_exchange *x);
/* The same for trailers that come behind a body that is on its way. */
int http_exchange_judge_trailers(struct http_exchange *x);
/* The next bytes of its body. 0, or -1: refused, since they ask for another method. */
int http_exchange_judge_form(struct http_exchange *x, struct sv bytes);
/* Does the policy in force still allow what is on its way? A body that has not begun is watched from now on, where it
 * wants that. */
bool http_exchange_allowed_still(struct http_exchange *x);

#endif
