#include "tls/engine.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>

#include "tls/stream.h"

static int bio_read(BIO *b, char *p, size_t n, size_t *ret)
{
	ssize_t r = socket_read(BIO_get_data(b), p, n);

	BIO_clear_retry_flags(b);
	if (r == -EAGAIN)
		BIO_set_retry_read(b);
	if (r <= 0)
		return 0;
	*ret = (size_t)r;
	return 1;
}

static int bio_write(BIO *b, const char *p, size_t n, size_t *ret)
{
	int r = socket_put(BIO_get_data(b), p, n);

	BIO_clear_retry_flags(b);
	if (r == -EAGAIN) {
		BIO_set_retry_write(b);
		return 0;
	}
	*ret = n;
	return 1;
}

static long bio_ctrl(BIO *b, int command, long number, void *p)
{
	const struct tls_socket *s = BIO_get_data(b);

	(void)number;
	(void)p;
	switch (command) {
	case BIO_CTRL_EOF:
		return s->ended;
	case BIO_CTRL_FLUSH:
	case BIO_CTRL_DUP:
		return 1;
	default:
		return 0;
	}
}

int engine_error(struct error *err, const char *what)
{
	unsigned long e = ERR_peek_error();
	const char *reason = ERR_reason_error_string(e);

	ERR_clear_error();
	if (e && !reason)
		return error_set(err, ERROR_SYSTEM, "%s: error %lx of OpenSSL", what, e);
	return error_set(err, ERROR_SYSTEM, "%s: %s", what, reason ? reason : "not enough memory");
}

static BIO_METHOD *new_method(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "stream");

	if (m && BIO_meth_set_read_ex(m, bio_read) && BIO_meth_set_write_ex(m, bio_write) &&
	    BIO_meth_set_ctrl(m, bio_ctrl))
		return m;
	BIO_meth_free(m);
	return NULL;
}

int engine_init(struct tls_engine *e, const SSL_METHOD *method, struct error *err)
{
	engine_library();
	(void)OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	*e = (struct tls_engine){.ctx = SSL_CTX_new(method), .method = new_method()};
	if (!e->ctx || !e->method || !SSL_CTX_set_min_proto_version(e->ctx, TLS1_2_VERSION)) {
		engine_done(e);
		return engine_error(err, "TLS");
	}
	SSL_CTX_set_security_level(e->ctx, 2);
	SSL_CTX_set_mode(e->ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
					 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_options(e->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_read_ahead(e->ctx, 1);
	return 0;
}

void engine_done(struct tls_engine *e)
{
	SSL_CTX_free(e->ctx);
	BIO_meth_free(e->method);
	*e = (struct tls_engine){0};
}

SSL *engine_open(const struct tls_engine *e, struct tls_socket *s)
{
	SSL *ssl = SSL_new(e->ctx);
	BIO *b = BIO_new(e->method);

	if (!ssl || !b) {
		SSL_free(ssl);
		BIO_free(b);
		return NULL;
	}
	BIO_set_data(b, s);
	BIO_set_init(b, 1);
	SSL_set_bio(ssl, b, b);
	SSL_set_app_data(ssl, s);
	return ssl;
}

static const struct {
	unsigned bit;
	struct sv name;
} protocols[] = {
	{ALPN_H2, {"h2", 2}},
	{ALPN_H1, {"http/1.1", 8}},
	{ALPN_H10, {"http/1.0", 8}},
};

size_t alpn_wire(unsigned alpn, unsigned char out[ALPN_WIRE_MAX])
{
	size_t n = 0, i;

	for (i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		if (!(alpn & protocols[i].bit))
			continue;
		out[n++] = (unsigned char)protocols[i].name.n;
		memcpy(out + n, protocols[i].name.p, protocols[i].name.n);
		n += protocols[i].name.n;
	}
	return n;
}

unsigned alpn_of(const unsigned char *name, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (sv_eq(protocols[i].name, sv_n((const char *)name, n)))
			return protocols[i].bit;
	return 0;
}
