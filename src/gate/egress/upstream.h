/*
 * upstream: one connection to a server, and the calls (one request and its answer) on it. HTTP/1.1: one call at a time;
 * HTTP/2: many.
 *
 * A struct call lives in its user's struct. It is bound to a connection by upstream_open() and free again when `end` or
 * `failed` was told, or after upstream_leave(). No event comes from inside upstream_open(); upstream_push() may tell
 * `sent`, and `failed` as its last act.
 *
 * Upwards: the user appends to call->body and calls upstream_push(); what went out is told by `sent`. Downwards: each
 * byte given by `data` is to be given back with upstream_consume(), which is what makes a slow reader slow its server.
 * Nothing else is held: an HTTP/1.1 connection is not read while bytes are held, one of HTTP/2 has a window.
 *
 * This header is for the files of this folder; the pool owns connections.
 */
#ifndef CORDON_GATE_EGRESS_UPSTREAM_H
#define CORDON_GATE_EGRESS_UPSTREAM_H

#include "gate/egress/egress.h"
#include "gate/egress/websocket.h"
#include "http/h1_write.h"
#include "http/h2.h"
#include "tls/stream.h"

enum {
	UPSTREAM_TLS_TIMEOUT = 10000,
	UPSTREAM_IDLE = 60000,
	UPSTREAM_SPARE = 2000, /* the same, where enough others of its site are idle */
	UPSTREAM_HEAD = 30000, /* from the first byte of a head to its last: who thinks does so before it speaks */
	UPSTREAM_WINDOW = 128 * 1024, /* of a call on HTTP/2 */
	UPSTREAM_TURN = 16,	      /* reads in a row, in fairness to others */
};

struct call;
struct upstream;

struct call_events {
	void (*response)(struct call *c, const struct http_response *r); /* 1xx: another follows */
	void (*data)(struct call *c, struct sv bytes);
	void (*end)(struct call *c, const struct http_fields *trailers); /* the last event */
	void (*sent)(struct call *c, size_t n,
		     bool went); /* of the body; !went: nobody hears it any more: to be counted by who reserved them
				    (quota.h); heads, trailers and framing are counted here */
	/* The last event. untouched: nothing of the request can have been looked at, it may be sent again. */
	void (*failed)(struct call *c, enum gate_failure why, bool untouched);
};

struct call {
	const struct call_events *events;
	struct upstream *up; /* NULL: not bound */
	struct h2_stream *stream;
	struct buf body; /* what waits to be sent, from body_at on */
	size_t body_at;
	bool body_ended;
	bool end_said; /* on HTTP/2 */
	struct http_fields trailers;
	size_t held;  /* bytes given and not given back */
	bool began;   /* a byte of the answer has come */
};

enum upstream_state { UPSTREAM_DIALLING, UPSTREAM_SHAKING, UPSTREAM_READY, UPSTREAM_DEAD };

struct site;
struct claim;

struct upstream {
	struct upstream *next, *prev; /* of its site */
	struct site *site;	      /* NULL once it is dead */
	struct egress *egress;
	enum upstream_state state;
	struct claim *claim; /* who made us dial; NULL: nobody any more */
	struct dial *dial;
	struct stream *stream;
	struct loop_timer timer; /* of the handshake, then of idleness */
	struct loop_task task;	 /* output, or death */
	struct dial_places places;
	bool by_proxy;
	bool used;	/* had a call before */
	bool no_writes; /* the socket takes no more; what it still says is listened to */
	struct buf out; /* what the socket did not take yet */
	size_t out_at;
	/* HTTP/1.1 */
	struct h1 *h1;
	struct call *call;
	enum h1_body body;
	struct loop_timer amid_head; /* until it is complete */
	char accept[WEBSOCKET_ACCEPT]; /* what a 101 must say */
	bool raw;	   /* after it */
	bool request_done;
	bool last; /* no call after this one */
	/* HTTP/2 */
	struct h2 *h2;
	unsigned n_calls;
	bool draining;	 /* takes no more */
	bool read_later; /* when the socket has taken our output */
};

/* 0; -EAGAIN: it takes no more calls, claim another; -EINVAL: the request cannot be written; -EDQUOT: the run may not
 * send so much; -ENOMEM. */
int upstream_open(struct upstream *u, struct call *c, const struct http_request *r);
void upstream_push(struct call *c);
void upstream_consume(struct call *c, size_t n);
void upstream_leave(struct call *c); /* one that is not bound is fine */
bool upstream_is_heard(const struct call *c); /* false: what its server says is not read until it takes what we say */

/* For the pool. */
void upstream_dial(struct upstream *u, struct sv host, uint16_t port);
bool upstream_is_free(const struct upstream *u); /* takes a call now */
bool upstream_is_idle(const struct upstream *u); /* has none */
bool upstream_is_local(const struct upstream *u); /* leads to a server on this machine, by no proxy */
void upstream_kill(struct upstream *u); /* at once for its calls; its memory goes at the end of the iteration */

/* Between upstream.c and the two protocols. Those that take a call away tell it. */
void upstream_rest(struct upstream *u); /* a call ended: back to the pool */
bool upstream_flush(struct upstream *u); /* true: nothing is left in out */
int upstream_reserve(
	struct upstream *u,
	size_t n); /* storage for n bytes more in out; where that means moving, the old one is wiped. 0 or -ENOMEM */
size_t upstream_fields_size(const struct http_fields *f); /* names and values */
void upstream_fail_call(struct call *c, enum gate_failure why, bool untouched);

int upstream_h1_start(struct upstream *u);
int upstream_h1_open(struct upstream *u, struct call *c, const struct http_request *r);
void upstream_h1_push(struct upstream *u);
void upstream_h1_events(struct upstream *u, unsigned events);

int upstream_h2_start(struct upstream *u);
int upstream_h2_open(struct upstream *u, struct call *c, const struct http_request *r);
void upstream_h2_push(struct upstream *u, struct call *c);
void upstream_h2_consume(struct call *c, size_t n);
void upstream_h2_leave(struct call *c);
void upstream_h2_events(struct upstream *u, unsigned events);

#endif
