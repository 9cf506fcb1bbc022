/*
 * socket: the bottom of a stream: a socket, the bytes that were given back to it, and the bytes that it has not taken
 * yet. Of no use outside tls/.
 *
 * It remembers what the loop reported, so that a system call which could only say EAGAIN is not made.
 */
#ifndef CORDON_TLS_SOCKET_H
#define CORDON_TLS_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/sv.h"

struct tls_socket {
	int fd;
	int read_failed, write_failed; /* 0 or the errno that ended it. Answers can be read when requests can no longer
					  be written. */
	bool readable, writable; /* worth a try */
	bool hangup;		 /* the end is in sight: a short read does not mean that there is no more */
	bool ended;		 /* and was read */
	char *unread;		 /* given back, not read again: [unread_at, unread_n) */
	size_t unread_at, unread_n;
	char *held; /* taken, not sent */
	size_t held_at, held_n;
	unsigned alpn; /* for the engine's callbacks: the set that we speak */
	char *host;    /* and, as a client, whose session it is */
};

void socket_init(struct tls_socket *s, int fd);
void socket_done(struct tls_socket *s); /* closes */

/* Bytes to be read first. 0, -ENOMEM, or -EFBIG. */
int socket_unread(struct tls_socket *s, struct sv bytes);

/* Bytes read, 0 at the end, -EAGAIN or -errno. */
ssize_t socket_read(struct tls_socket *s, void *p, size_t n);

/* Bytes written, -EAGAIN or -errno. */
ssize_t socket_writev(struct tls_socket *s, const struct iovec *v, int n);

/*
 * Takes all of p, holding what does not fit; -EAGAIN where too much is held already. Once writing has failed it takes
 * and drops, so that the engine above goes on reading: look at write_failed.
 */
int socket_put(struct tls_socket *s, const void *p, size_t n);

/* Sends what is held. 0, -EAGAIN or -errno. */
int socket_flush(struct tls_socket *s);

static inline bool socket_holds(const struct tls_socket *s)
{
	return s->held;
}

/* A read may give something else than -EAGAIN. */
static inline bool socket_worth_reading(const struct tls_socket *s)
{
	return s->readable || s->unread;
}

#endif
