/*
 * stream: a byte stream over a non-blocking stream socket, plain or TLS, on the loop. Every connection of relay and
 * egress is one.
 *
 * A stream starts plain. stream_tls_server() or stream_tls_client() turns it into TLS at any point where what was read
 * so far belongs to the plain part; bytes that were read too far (a sniffed ClientHello) are given back with
 * stream_unread() first. What the TLS engine wants to read or write for itself is done inside; users see bytes only.
 *
 * The stream calls fn(arg, events) from the loop, never from inside a function of this header:
 *   STREAM_OPEN    the TLS handshake is over; ALPN is known.
 *   STREAM_READ    there is something to read, or the end, or a failure: only after a read said -EAGAIN (a new stream
 * counts as that). STREAM_WRITE   there is room again: only after a write took less than it was given. STREAM_HANGUP
 * the peer sends no more than what is already here. Told once, also to users who do not read now: what a request costs
 * upstream can end when nobody waits for it. The peer may still read (half-close). STREAM_FAILED  the handshake failed,
 * or bytes that a write had taken cannot be sent: see stream_failure(). Told once. Where writing fails, reading goes on
 * until it fails too: a server that refuses a request may have answered before it closed. fn may free the stream.
 * Whoever stops reading before -EAGAIN, because the other side is slow or in fairness to others, just calls
 * stream_read() later; stream_resume() asks for a call at the end of the iteration.
 *
 * Back-pressure: a write takes what the socket takes; TLS may hold one record more, encrypted, until the socket does.
 * Neither direction ever holds more than a record (16 KiB) of its own, and an idle stream holds no buffer.
 *
 * Ownership: the fd becomes the stream's, and is closed with it. tls_server, tls_client and loop outlive their streams.
 * Leaves need not. Limits: what is given back is at most 64 KiB. Failure: as an enum for code and a short constant text
 * for the body of a 502.
 */
#ifndef CORDON_TLS_STREAM_H
#define CORDON_TLS_STREAM_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/sv.h"
#include "loop/loop.h"

struct stream;
struct tls_server; /* tls/server.h */
struct tls_client; /* tls/client.h */
struct tls_leaf;   /* tls/leaf.h */

enum { STREAM_OPEN = 1, STREAM_READ = 2, STREAM_WRITE = 4, STREAM_HANGUP = 8, STREAM_FAILED = 16 };
typedef void stream_fn(void *arg, unsigned events);

/* What TLS peers agree on to speak inside: a set where it is offered, one or none where it was chosen. */
enum { ALPN_H1 = 1, ALPN_H2 = 2, ALPN_H10 = 4 /* HTTP/1.0, of old clients */ };

enum stream_failure {
	STREAM_FINE = 0,
	STREAM_RESET, /* the peer is gone */
	STREAM_CUT, /* the TLS stream ended without saying so: what came last may not be all. Idle connections are often
		       closed like this. */
	STREAM_SYSTEM,         /* another system error, or no memory */
	STREAM_ALERT,          /* the peer refused with a TLS alert */
	STREAM_PROTOCOL,       /* the peer speaks no TLS, a TLS too old, or a broken one */
	STREAM_NO_ALPN,        /* nothing in common to speak inside */
	STREAM_CERT_UNTRUSTED, /* no chain to a trusted root */
	STREAM_CERT_EXPIRED,   /* or not yet valid */
	STREAM_CERT_NAME,      /* for another name or address */
	STREAM_CERT_BAD        /* anything else that is wrong with it */
};

/* fd: connected and non-blocking; the stream's from now on, also when this fails (then it is closed). 0 or -errno. */
int stream_new(struct loop *loop, int fd, stream_fn *fn, void *arg, struct stream **ret);

/* Closes at once: bytes that a write had taken but the socket not are lost, and the peer may see a reset. NULL is fine.
 */
void stream_free(struct stream *s);

/*
 * Closes in peace: sends what was taken, says the end, reads and drops what still comes until the peer closes (so that
 * no reset overtakes the last answer), for two seconds at most. The stream is no longer the caller's, and fn is not
 * called again.
 */
void stream_close(struct stream *s);

/* Another receiver of events: for a connection that changes hands. */
void stream_listen(struct stream *s, stream_fn *fn, void *arg);

/* Bytes that the next reads (or the TLS engine) get before those of the socket; they are copied. Plain streams only. 0
 * or -errno. */
int stream_unread(struct stream *s, struct sv bytes);

/*
 * Begins the handshake with that certificate; alpn is the set that we speak (h2 is preferred; 0: ALPN is ignored). A
 * client that offers only others is refused. 0 or -errno; what goes wrong later is reported by STREAM_FAILED.
 */
int stream_tls_server(struct stream *s, struct tls_server *server, const struct tls_leaf *leaf, unsigned alpn);

/* The same as a client (in tls/client.c): host is the name or address (without brackets) that the certificate must be
 * for. */
int stream_tls_client(struct stream *s, struct tls_client *client, struct sv host, unsigned alpn);

/* Bytes read (1 or more; n must be), 0 at the end, -EAGAIN, or -EIO when the stream failed. */
ssize_t stream_read(struct stream *s, void *p, size_t n);

/* Bytes taken (1 or more; 0 for none given), -EAGAIN, or -EIO when the stream failed. What was taken needs no keeping.
 */
ssize_t stream_write(struct stream *s, const void *p, size_t n);
ssize_t stream_writev(struct stream *s, const struct iovec *v, int n);

/* No more writes: says so to the peer, after what was taken is sent. Reading goes on. */
void stream_finish(struct stream *s);

/* Calls fn with these events at the end of this iteration. */
void stream_resume(struct stream *s, unsigned events);

/*
 * Takes the socket out of a plain stream (for a tunnel, or to pass it on) and frees the stream. Bytes that were given
 * back and not read again are added to unread. The fd, or -EBUSY: TLS has begun.
 */
int stream_take_fd(struct stream *s, struct buf *unread);

int stream_fd(const struct stream *s);
bool stream_is_tls(const struct stream *s);
unsigned stream_alpn(const struct stream *s); /* one of them, or 0: nothing was negotiated */
bool stream_resumed(const struct stream *s);  /* the handshake was spared by an earlier session */
enum stream_failure stream_failure(const struct stream *s);
const char *
stream_failure_text(const struct stream *s); /* "certificate has expired"; constant; "" where nothing failed */

#endif
