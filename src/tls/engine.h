/*
 * engine: what TLS servers and clients share of OpenSSL: a context with our settings, and a BIO over struct tls_socket.
 * Of no use outside tls/.
 *
 * A BIO of our own rather than SSL_set_fd(): it reads with large reads (read-ahead) and skips reads that can only say
 * EAGAIN, so that a request costs one recv() and an answer one send(); it gives the engine the bytes that were sniffed;
 * and it takes every record whole, so that no write has to be repeated with the same bytes.
 */
#ifndef CORDON_TLS_ENGINE_H
#define CORDON_TLS_ENGINE_H

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/error.h"
#include "tls/leaf.h"
#include "tls/socket.h"

struct tls_engine {
	SSL_CTX *ctx;
	BIO_METHOD *method;
};

struct tls_server;
struct stream;

/*
 * OpenSSL itself, before anything else is asked of it. Roles have no files to read a configuration from, and a host's
 * configuration must not weaken them. The texts of its thousands of errors would be a sixth of an idle role's heap:
 * those about TLS are all that a person gets to read.
 */
static inline void engine_library(void)
{
	(void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS, NULL);
}

/* So that SSL_get_error() speaks of the next call alone. There is rarely anything to forget, and ERR_clear_error()
 * would go over all places for it. */
static inline void engine_forget_errors(void)
{
	if (ERR_peek_error())
		ERR_clear_error();
}

int engine_init(struct tls_engine *e, const SSL_METHOD *method, struct error *err);
void engine_done(struct tls_engine *e);

/* A connection over s, which outlives it; s is its app data. NULL: no memory. */
SSL *engine_open(const struct tls_engine *e, struct tls_socket *s);

/* ALPN sets: the wire form of a set (at most ALPN_WIRE_MAX bytes, h2 first), and the protocol that was chosen. */
enum { ALPN_WIRE_MAX = 24 };
size_t alpn_wire(unsigned alpn, unsigned char out[ALPN_WIRE_MAX]);
unsigned alpn_of(const unsigned char *name, size_t n);

/* The first of OpenSSL's errors as an error of ours; the others are dropped. Returns -1. */
int engine_error(struct error *err, const char *what);

/* A connection that is ready to begin its handshake; alpn and host are in s. NULL: no memory. */
SSL *tls_server_open(struct tls_server *server, const struct tls_leaf *leaf, struct tls_socket *s);

/*
 * stream.c's part of stream_tls_client(): begins the handshake of the connection that open(arg, socket) makes. stream.c
 * does not name the client itself, so that a program that dials nobody does not contain it. 0 or -errno.
 */
typedef SSL *stream_open_fn(void *arg, struct tls_socket *s);
int stream_begin_client(struct stream *s, struct sv host, unsigned alpn, stream_open_fn *open, void *arg);

/* Gives ssl the certificate, its key, and what binds sessions to them. 0 or -1. */
int tls_leaf_use(const struct tls_leaf *leaf, SSL *ssl);

#endif
