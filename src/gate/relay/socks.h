/*
 * socks: the server's side of SOCKS 5 (RFC 1928), up to the point where a connection is wanted.
 *
 * Bytes are fed as they come, in whatever pieces; the parser takes none that belong to the stream behind the request.
 * It speaks without authentication, and takes any name and password where a client offers nothing else (some insist):
 * who may come here is not a matter of passwords. Only CONNECT is served. An address and a name come out alike, as the
 * text of a host: policy judges both.
 *
 * No heap. A parser is done after SOCKS_CONNECT or SOCKS_REFUSE and takes nothing more.
 */
#ifndef CORDON_GATE_RELAY_SOCKS_H
#define CORDON_GATE_RELAY_SOCKS_H

#include "base/buf.h"

enum socks_step {
	SOCKS_MORE,    /* needs more bytes; send what is in the buffer */
	SOCKS_CONNECT, /* host and port are known; answer with socks_reply() when it is decided */
	SOCKS_REFUSE,  /* send what is in the buffer, then close */
};

enum socks_code {
	SOCKS_GRANTED = 0,
	SOCKS_FAILED = 1,
	SOCKS_DENIED = 2, /* by policy */
	SOCKS_NO_NETWORK = 3,
	SOCKS_NO_HOST = 4,
	SOCKS_NO_LISTENER = 5,
	SOCKS_EXPIRED = 6,
	SOCKS_NO_COMMAND = 7,
	SOCKS_NO_ADDRESS_TYPE = 8,
};

enum socks_state { SOCKS_AT_METHODS, SOCKS_AT_PASSWORD, SOCKS_AT_REQUEST, SOCKS_AT_END };

struct socks {
	enum socks_state state;
	uint16_t port;
	size_t host_n;
	char host[256]; /* may hold any byte but NUL; policy refuses what is no host */
	size_t n;
	unsigned char bytes[513]; /* of the message that is being read; a name and a password are the longest */
};

void socks_init(struct socks *s);

/* Takes bytes of in, says how many, and appends answers to out (at most 16 bytes a call; failure is the buffer's). */
enum socks_step socks_feed(struct socks *s, struct sv in, size_t *ret_used, struct buf *out);

static inline struct sv socks_host(const struct socks *s)
{
	return sv_n(s->host, s->host_n);
}

/* The answer to a request. */
void socks_reply(enum socks_code code, struct buf *out);

#endif
