/*
 * h2: one HTTP/2 connection, either side, in terms of message.h.
 *
 * Bytes in, bytes out: the caller owns the socket and TLS. h2_input() takes what arrived and tells of it through the
 * table of events; h2_output() fills the caller's buffer with what is to be sent. Framing, HPACK and flow control are
 * nghttp2's; what a message may look like is checked there and again here (h2_head.c), and only what passed both
 * becomes an event.
 *
 * Ownership. The session owns its streams. A struct h2_stream lives until its `closed` event returns; h2_free() gives
 * that event to all that are left. The head of a request and trailers live as long as the stream, the head of a
 * response until the next one of that stream. Data views live during the event only. All calls but h2_input(),
 * h2_output() and h2_free() may be made inside events.
 *
 * Back-pressure, inwards: bytes given by `data` count against the stream's window until h2_consume(); a consumer that
 * does not consume stops its peer after `window` bytes, and with H2_WINDOWS such streams the whole connection; a
 * client's streams stop nobody but themselves. Outwards: h2_offer() lends bytes to a stream without copying them; they
 * are taken as windows allow, straight into the output buffer, and `taken` says how many. Nothing of a body is ever
 * held here. Queued control frames are bounded: a peer that makes us answer and does not read is cut off, so call
 * h2_output() after each h2_input() and read no more while the socket does not take what it gave.
 *
 * Limits: HTTP_MAX_FIELDS, HTTP_MAX_HEAD, HTTP_MAX_TARGET per head and again for trailers; H2_MAX_STREAMS at once;
 * token buckets for frames that carry nothing (ping, settings, priority, window updates, empty data) and for streams
 * reset before they were answered. Who exceeds a bucket gets GOAWAY with ENHANCE_YOUR_CALM.
 *
 * Failure. A bad message ends its stream (`refused`, `closed`), a bad frame the connection: send what h2_output() still
 * gives (GOAWAY); h2_over() is true then, so close the socket and call h2_free(), which tells the streams that are
 * left. h2_input() returning -1 means the same, sooner: more input is pointless.
 */
#ifndef CORDON_HTTP_H2_H
#define CORDON_HTTP_H2_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "http/message.h"

enum {
	H2_MAX_STREAMS = 100,
	H2_WINDOW = 256 *
		    1024, /* of a stream, where the caller does not say; a server's connection has H2_WINDOWS of them */
	H2_WINDOWS = 16,
	H2_WINDOW_MIN = 65535,    /* what every peer may use before it knows of another */
	H2_OUTPUT_MIN = 4 * 1024, /* smallest buffer for h2_output(); a record of TLS (16 KiB) is a good one */
};

/* Error codes of RFC 9113, section 7, as far as a caller needs them. */
enum {
	H2_NO_ERROR = 0,
	H2_PROTOCOL_ERROR = 1,
	H2_INTERNAL_ERROR = 2,
	H2_REFUSED_STREAM = 7, /* nothing was done: the request may be sent again on another connection */
	H2_CANCEL = 8,
	H2_ENHANCE_YOUR_CALM = 11,
};

struct h2;
struct h2_stream;

/* What happens. Members may be NULL where a side has no use for them. */
struct h2_events {
	/* Server: a request's head. Where r->body is false, `end` follows at once. */
	void (*request)(void *user, struct h2_stream *s, const struct http_request *r);
	/* Client: a response's head; 1xx means another follows. */
	void (*response)(void *user, struct h2_stream *s, const struct http_response *r);
	/* Bytes of a body (or tunnel). Each byte must be given to h2_consume() once it is out of the way. */
	void (*data)(void *user, struct h2_stream *s, struct sv bytes);
	/* The peer's message is complete. Trailers may be empty. */
	void (*end)(void *user, struct h2_stream *s, const struct http_fields *trailers);
	/* n bytes of what was offered went out, or into the output buffer: they are the caller's again. Offer what
	 * comes next. */
	void (*taken)(void *user, struct h2_stream *s, size_t n);
	/*
	 * A message was refused; why is a fixed English phrase. Status is that of a fitting answer, which may be given
	 * here with h2_respond(); where it is not, or status is 0 (no answer is possible), the stream is reset. Of what
	 * the peer still sends nothing is told but `closed`.
	 */
	void (*refused)(void *user, struct h2_stream *s, uint16_t status, const char *why);
	/* The last event of a stream: H2_NO_ERROR, or the code of a reset by either side. */
	void (*closed)(void *user, struct h2_stream *s, uint32_t code);
	/* The peer takes no more streams; those with a greater id than last were or will be closed with
	 * H2_REFUSED_STREAM. */
	void (*goaway)(void *user, int32_t last, uint32_t code);
};

struct h2_config {
	bool server;
	/* Server: what the connection was opened for (SNI, CONNECT). With an empty host any authority is taken. */
	bool tls;
	struct sv host; /* canonical, as in message.h; borrowed for the session's life */
	uint16_t port;
	bool websocket; /* server: accept extended CONNECT (RFC 8441) */
	uint32_t window; /* of a stream, H2_WINDOW_MIN to 64 MiB; 0: H2_WINDOW */
};

/* events and its user are borrowed for the session's life. NULL: no memory. */
struct h2 *h2_new(const struct h2_config *config, const struct h2_events *events, void *user);
void h2_free(struct h2 *h); /* NULL is fine */

/* Takes all bytes. now: loop_now(), or another clock of milliseconds that does not go back. 0, or -1: the connection is
 * over (see Failure above). */
int h2_input(struct h2 *h, struct sv bytes, int64_t now);

/* Fills out, max >= H2_OUTPUT_MIN. The number of bytes, 0 where there is nothing to send now, or -1: no memory, close
 * the socket. */
ssize_t h2_output(struct h2 *h, char *out, size_t max);

/* True when nothing more will come or go: close the socket. */
bool h2_over(const struct h2 *h);

/* Finishes what was begun, takes no more: GOAWAY. */
void h2_shutdown(struct h2 *h);

/* Client: how many requests could be sent now; 0 after goaway. And whether the peer takes requests with websocket set
 * (known after its first bytes). */
uint32_t h2_room(const struct h2 *h);
bool h2_takes_websocket(const struct h2 *h);

/*
 * Client: sends a head. With r->body (or websocket) the body is offered with h2_offer() and ended with h2_end();
 * without, the request is complete. What was given is copied. -EAGAIN: no room; -EOPNOTSUPP: websocket and the peer
 * does not; -EINVAL: a field that must not be sent; -ENOMEM.
 */
int h2_request(struct h2 *h, const struct http_request *r, void *stream_user, struct h2_stream **ret);

/*
 * Server: sends a head, interim (1xx, any number of them) or final (one). With r->body the body follows as above. A
 * response with websocket set (status 101) is sent as 200. -EINVAL: a field that must not be sent, or a final head was
 * sent already; -ENOMEM.
 */
int h2_respond(struct h2_stream *s, const struct http_response *r);

/*
 * Lends bytes to be sent: they must stay where they are until `taken`, the next h2_offer() or `closed`. A new offer
 * replaces what is left of the last one, so it starts with the first byte that was not taken. -EINVAL: no body is due.
 */
int h2_offer(struct h2_stream *s, struct sv bytes);

/* After what is offered the body ends, with trailers (copied) or NULL. -EINVAL, -ENOMEM. */
int h2_end(struct h2_stream *s, const struct http_fields *trailers);

/*
 * Server: a response that is complete before its request is followed by a reset, since nobody wants the rest. This
 * leaves the reset to the caller, who takes what still comes and calls h2_reset() where it does not end: clients that
 * meet both in one read drop the response.
 */
void h2_linger(struct h2_stream *s);

/* n bytes from `data` are out of the way: the peer may send as many again. */
void h2_consume(struct h2_stream *s, size_t n);

/* No event of the stream follows but `closed`, which comes with h2_output() or h2_input(). */
void h2_reset(struct h2_stream *s, uint32_t code);

int32_t h2_stream_id(const struct h2_stream *s);
void *h2_stream_user(const struct h2_stream *s);
void h2_stream_set_user(struct h2_stream *s, void *user);

#endif
