/*
 * link: HTTP exchanges between relay and egress, many at once over one stream socket. Each side has a struct link on
 * its end of a socketpair.
 *
 * The relay opens exchanges, egress answers them. What goes over is never the peer's bytes but typed, length-checked
 * messages: a head as the fields of message.h, pieces of bodies, trailers, an end, a reset, a failure. Each side checks
 * what it receives as if the other were taken over: a frame that is too long, of an unknown type, beyond its credit or
 * out of turn ends the link (`gone`), not only the exchange. One for an exchange that is no longer open is dropped.
 *
 * Flow. Each direction of each exchange has credit: LINK_WINDOW bytes of body at first, and as many more as the
 * receiver gives back with link_consume(). link_data() takes as much as there is credit and room for; `room` says when
 * to go on. So a slow reader stops its own sender and nobody else. Frames are collected and written at the end of the
 * loop's iteration, many by one call.
 *
 * While one exchange is open, both sides stay on one CPU for a moment (loop/near.h); the relay says which.
 *
 * Ownership. The link owns its exchanges; one lives until `closed` returned. Heads, trailers and data given to events
 * are views that live during the event. Calls but link_free() may be made inside events. After link_free() no event
 * comes; it does not call `closed`.
 *
 * An exchange is over when both directions ended, or after a reset by either side, or a failure; `closed` comes then,
 * once, from the loop.
 */
#ifndef CORDON_HTTP_LINK_H
#define CORDON_HTTP_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sv.h"
#include "http/message.h"
#include "loop/loop.h"
#include "model/gate.h"

enum {
	LINK_WINDOW = 128 * 1024,   /* bytes of a body on the way, per exchange and direction */
	LINK_MAX_EXCHANGES = 16384, /* open at once */
	LINK_MAX_FRAME = HTTP_MAX_HEAD + 16 * 1024,
};

struct link;
struct link_exchange;

/* A request and on whose behalf: egress judges it again by the same rules. */
struct link_request {
	struct http_request head;
	bool inference;	   /* by the inference rules: host, port and tls are the provider's */
	uint32_t provider; /* index in the policy, where inference */
	uint64_t generation; /* of the policy that the relay judged by */
};

struct link_events {
	void (*request)(void *user, struct link_exchange *x, const struct link_request *r);	 /* egress */
	void (*response)(void *user, struct link_exchange *x,
			 const struct http_response *r); /* relay; 1xx: another follows */
	void (*failed)(void *user, struct link_exchange *x, enum gate_failure why,
		       struct sv text); /* relay; instead of a response, or amid its body */
	void (*data)(void *user, struct link_exchange *x, struct sv bytes);
	void (*end)(void *user, struct link_exchange *x, const struct http_fields *trailers);
	void (*room)(void *user, struct link_exchange *x);
	void (*closed)(void *user, struct link_exchange *x, bool reset);
	void (*gone)(void *user); /* the other side ended or misbehaved: nothing more works. The last event. */
};

/* fd: stream socket, non-blocking; the link's from now on. 0 or -errno. */
int link_new(struct loop *loop, int fd, bool relay, const struct link_events *events, void *user, struct link **ret);
void link_free(struct link *l); /* NULL is fine */

/* Relay: opens an exchange. The body, where there is one (or websocket), follows. -EAGAIN: too many are open, or the
 * other side does not read; -EINVAL: a head too long; -EPIPE: gone; -ENOMEM. */
int link_request(struct link *l, const struct link_request *r, void *exchange_user, struct link_exchange **ret);

/* Egress: an interim head, or the final one. With body (or websocket) data follows; without, the answer is complete. */
int link_respond(struct link_exchange *x, const struct http_response *r);

/* Egress: there is no (complete) answer. Ends the exchange. text: a short phrase for a person. */
int link_fail(struct link_exchange *x, enum gate_failure why, struct sv text);

/* Bytes taken (fewer than given: `room` will follow), or -EINVAL: no body is due. The bytes are copied. */
ssize_t link_data(struct link_exchange *x, struct sv bytes);

/* How many bytes link_data() would take now. */
size_t link_room(const struct link_exchange *x);

/* No more data from us; trailers may be NULL. */
int link_end(struct link_exchange *x, const struct http_fields *trailers);

/* n bytes of `data` are out of the way. */
void link_consume(struct link_exchange *x, size_t n);

/* Gives the exchange up: no event follows but `closed`. */
void link_reset(struct link_exchange *x);

void *link_user(const struct link_exchange *x);
void link_set_user(struct link_exchange *x, void *user);

#endif
