#include "tls/client.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "tls/engine.h"
#include "tls/lru.h"
#include "tls/name.h"
#include "tls/roots.h"
#include "tls/stream.h"

struct tls_client {
	struct tls_engine engine;
	struct roots *roots;
	struct lru *sessions;
};

static void free_session(void *object)
{
	SSL_SESSION_free(object);
}

/* OpenSSL hands over a session; 1: it is ours now. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls_client *client = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const struct tls_socket *s = SSL_get_app_data(ssl);

	(void)lru_take(client->sessions, sv_of(s->host), session);
	return 1;
}

static int set_up(struct tls_client *client, struct sv roots, struct error *err)
{
	SSL_CTX *ctx;
	X509_STORE *store;

	if (engine_init(&client->engine, TLS_client_method(), err) < 0 || roots_new(roots, &client->roots, err) < 0)
		return -1;
	ctx = client->engine.ctx;
	store = SSL_CTX_get_cert_store(ctx);
	client->sessions = lru_new(TLS_CLIENT_SESSIONS, free_session);
	if (!client->sessions || roots_serve(client->roots, store) < 0)
		return error_sys(err, ENOMEM, "TLS");
	/* What the operator lists is trusted, also where it is not a root: a company's intermediate, a server's own
	 * certificate. */
	X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
	SSL_CTX_set_app_data(ctx, client);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, keep_session);
	return 0;
}

int tls_client_new(struct sv roots, struct tls_client **ret, struct error *err)
{
	struct tls_client *client = calloc(1, sizeof(*client));

	if (!client)
		return error_sys(err, ENOMEM, "TLS");
	if (set_up(client, roots, err) < 0) {
		tls_client_free(client);
		return -1;
	}
	*ret = client;
	return 0;
}

void tls_client_free(struct tls_client *client)
{
	if (!client)
		return;
	lru_free(client->sessions);
	engine_done(&client->engine);
	roots_free(client->roots);
	free(client);
}

/* Whom the certificate must be for. Names are compared with the subject alternative names only. */
static int expect_host(SSL *ssl, char *host)
{
	unsigned char address[16];
	int n = name_address(sv_of(host), address);

	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	if (n)
		return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(ssl), address, (size_t)n) ? 0 : -1;
	return SSL_set1_host(ssl, host) && SSL_set_tlsext_host_name(ssl, host) ? 0 : -1;
}

static void resume(struct tls_client *client, SSL *ssl, struct sv host)
{
	SSL_SESSION *session = lru_find(client->sessions, host);

	if (!session)
		return;
	if (SSL_SESSION_is_resumable(session))
		(void)SSL_set_session(ssl, session);
	/* A ticket that is sent twice would let others see that both connections are ours. */
	if (SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION)
		lru_remove(client->sessions, host);
}

static SSL *open_client(void *arg, struct tls_socket *s)
{
	struct tls_client *client = arg;
	SSL *ssl = engine_open(&client->engine, s);
	unsigned char alpn[ALPN_WIRE_MAX];
	size_t n = alpn_wire(s->alpn, alpn);

	if (!ssl || expect_host(ssl, s->host) < 0 || (n && SSL_set_alpn_protos(ssl, alpn, (unsigned)n) != 0)) {
		SSL_free(ssl);
		return NULL;
	}
	resume(client, ssl, sv_of(s->host));
	SSL_set_connect_state(ssl);
	return ssl;
}

int stream_tls_client(struct stream *s, struct tls_client *client, struct sv host, unsigned alpn)
{
	unsigned char address[16];

	if (!name_is_host(host) && !name_address(host, address))
		return -EINVAL;
	return stream_begin_client(s, host, alpn, open_client, client);
}
