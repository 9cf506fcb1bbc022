/*
 * failure: what a system call or OpenSSL says, as one of enum stream_failure and a constant text. Of no use outside
 * tls/.
 */
#ifndef CORDON_TLS_FAILURE_H
#define CORDON_TLS_FAILURE_H

#include <openssl/ssl.h>

#include "tls/stream.h"

struct failure {
	enum stream_failure kind;
	const char *text;
};

/* ssl: NULL for a plain stream. ssl_error: of SSL_get_error(). code: the socket's errno, or 0. opening: the handshake
 * is not over. */
void failure_set(struct failure *f, const SSL *ssl, int ssl_error, int code, bool opening);

#endif
