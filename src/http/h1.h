/*
 * h1: reads HTTP/1.1 messages, one after the other, and refuses whatever two readers could take for two different
 * messages.
 *
 * Bytes in, events out. A head is collected, checked by our own rules (h1_head.c, h1_check.c) and parsed by llhttp as
 * well; where the two do not agree to the byte it is refused. Bodies are framed here and handed out as views into the
 * input, never copied.
 *
 *	while ((e = h1_read(h, &in, &data)) != H1_MORE)
 *		H1_HEAD, H1_DATA..., H1_END; then h1_next(h) before the rest of `in`, which belongs to the next message
 *
 * Bytes that come after the END of a response to which no further request belongs are the caller's to refuse: such a
 * connection must not be used again. After the END of a CONNECT, of a request with websocket set, of a 101 and of a 2xx
 * to CONNECT, what is left of the input (and all that follows) belongs to the tunnel.
 *
 * Ownership. What h1_request(), h1_response() and h1_trailers() give lives until h1_next() or h1_free(); of an interim
 * response (1xx) until the next h1_read(). Two allocations per message (and one more for a target that grows), none
 * between messages, so that an idle connection costs only the struct.
 *
 * Refused: content-length with transfer-encoding, either of them twice, any coding but "chunked", lengths that are not
 * plain decimal numbers, line folding, a blank before the colon, LF without CR and CR without LF, control characters,
 * Host missing, double, malformed or different from the target, TRACE, upgrades but to websocket, names that become a
 * framing field where an underscore counts as a hyphen, versions but 1.0 and 1.1, transfer-encoding in 1.0, empty lines
 * before a message, trailers that frame, route or authenticate, and all that target.h refuses.
 *
 * Failure: H1_ERROR, from then on always; h1_fault() says why. For a request the status is an answer to give (400, 405,
 * 413, 414, 417, 421, 431, 501, 505), for a response it is 502; 500 is want of memory. Nothing more can be read from
 * that connection.
 */
#ifndef CORDON_HTTP_H1_H
#define CORDON_HTTP_H1_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"
#include "http/message.h"

struct h1;

/* What a connection that brings requests is. */
struct h1_context {
	bool proxy; /* targets are URLs, or CONNECT; else they are paths, and the members below hold */
	bool server; /* we answer for ourselves: an offer of HTTP/2 is left alone, and not refused */
	bool tls;
	struct sv host; /* canonical; Host must equal it. Empty: any. Borrowed for the reader's life. */
	uint16_t port;  /* Host must name it or no port. 0: any */
};

/* What was asked, for the reader of the response. */
struct h1_asked {
	bool head;
	bool connect;
	bool websocket;
};

struct h1_limits {
	uint32_t head;   /* bytes of a head, and of trailers */
	uint32_t target; /* bytes */
	uint32_t fields; /* of a head, and of trailers */
	int64_t body;    /* bytes; 0: any number */
};

enum h1_event {
	H1_MORE, /* all input was taken */
	H1_HEAD,
	H1_DATA,
	H1_END,
	H1_ERROR,
};

struct h1_fault {
	uint16_t status;
	const char *reason; /* fixed English */
};

/* limits: copied; NULL: those of message.h. NULL: no memory. */
struct h1 *h1_new_request(const struct h1_context *context, const struct h1_limits *limits);
struct h1 *h1_new_response(const struct h1_limits *limits);
void h1_free(struct h1 *h); /* NULL is fine */

/*
 * Heads that were read before are known by their bytes, and not read again (h1_recent.h). One for all readers of a
 * program, which it outlives.
 */
struct h1_recent;
struct h1_recent *h1_recent_new(void);         /* NULL: no memory */
void h1_recent_free(struct h1_recent *recent); /* NULL is fine */
void h1_remember(struct h1 *h, struct h1_recent *recent);

/* For the next response; before its first byte. Nothing said: a GET was asked. */
void h1_expect(struct h1 *h, struct h1_asked asked);

/* Takes bytes off the front of *in until there is something to tell. H1_DATA sets *ret_data, a view into the input that
 * is never empty. */
enum h1_event h1_read(struct h1 *h, struct sv *in, struct sv *ret_data);

/* The peer sends no more. H1_MORE: between messages; H1_END: that ended a body; H1_ERROR: in the midst of a message. */
enum h1_event h1_eof(struct h1 *h);

/* After H1_END: forgets the message. */
void h1_next(struct h1 *h);

/* After H1_HEAD. */
const struct http_request *h1_request(const struct h1 *h);
const struct http_response *h1_response(const struct h1 *h);
bool h1_is_http10(const struct h1 *h);
bool h1_keeps(const struct h1 *h); /* another message may follow on the connection */

/* After H1_END. May be empty. */
const struct http_fields *h1_trailers(const struct h1 *h);

/* For the log, after H1_ERROR: the start line and the value of the first Host, as they came and as far as they did.
 * Either may be empty; until h1_free(). */
void h1_seen(const struct h1 *h, struct sv *ret_start, struct sv *ret_host);

bool h1_idle(const struct h1 *h);   /* no byte of a message has come */
bool h1_amid_head(const struct h1 *h); /* some of a head has come, and not its end */
size_t h1_held(const struct h1 *h); /* bytes of memory for the message's head and trailers */
struct h1_fault h1_fault(const struct h1 *h);

#endif
