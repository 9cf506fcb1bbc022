/*
 * session: what sessions of both versions have in common, and what all of them share.
 *
 * A session owns its stream. It ends at most once, by session_end(): the stream is closed then, and nothing of it is
 * called any more; its memory goes at the end of the loop's iteration, so that callers further up the stack may still
 * look at `dead`.
 */
#ifndef CORDON_RELAY_SESSION_H
#define CORDON_RELAY_SESSION_H

#include "base/buf.h"
#include "gate/relay/relay.h"

struct placeholder_scan; /* vault/placeholder_set.h */
struct h1_recent;        /* http/h1.h */
struct session;

enum { SESSION_READ = 16 * 1024 }; /* a record of TLS */

/* Milliseconds. A session has those of its relay's relay_http. */
struct session_limits {
	int64_t head;	  /* from the first byte of a head to its last */
	int64_t idle;	  /* between requests */
	int64_t progress; /* without a byte of a body, in either direction */
	int64_t hangup;	  /* for the answer to a client that sends no more, and may be gone */
	int64_t answer;	  /* for the answer to a client that waits: egress has limits of its own */
	int64_t linger;	  /* for the client to stop sending, after the answer; HTTP/2 */
};
extern const struct session_limits session_limits; /* in http.c: what relay_http begins with */

struct relay_http {
	struct session_limits limits;
	struct session *sessions;
	char **providers; /* names, by the numbers of listeners */
	uint32_t n_providers;
	struct placeholder_scan *heads; /* runs over all heads, one after the other; NULL: there are no placeholders */
	struct h1_recent *recent;	/* heads of requests (http/h1.h) */
	size_t collected;		/* bytes of bodies that are being collected */
	size_t heads_open;		/* bytes of the heads of requests that are not over */
	size_t heads_begun;		/* bytes for heads of which the end has not come */
	unsigned n_h2;			/* sessions of HTTP/2 */
	struct buf text;		/* of whoever is running: empty between calls */
	char in[SESSION_READ];		/* the same */
	char out[SESSION_READ];
};

/* How each version does what is asked of any session. */
struct session_kind {
	void (*judge_again)(struct session *s);
	void (*stop)(struct session *s); /* exchanges and buffers, before the stream is closed */
	void (*free)(struct session *s);
};

struct session {
	const struct session_kind *kind;
	struct relay *relay;
	struct stream *stream; /* NULL: it has ended, or was handed on */
	struct http_origin origin;
	struct session *next, *prev;
	struct loop_timer timer;
	struct loop_task task;
	bool dead;
};

static inline const struct session_limits *session_limits_of(const struct session *s)
{
	return &s->relay->http->limits;
}

void session_begin(struct session *s, const struct session_kind *kind, struct relay *r, struct stream *stream,
		   const struct http_origin *o);

enum session_close {
	SESSION_CLOSE,	 /* in peace: what was written arrives */
	SESSION_ABORT,	 /* at once */
	SESSION_HAND_ON, /* the stream belongs to somebody else now */
};
void session_end(struct session *s, enum session_close how);

#endif
