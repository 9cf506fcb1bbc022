#include "tls/server.h"

#include <errno.h>
#include <stdlib.h>

#include "tls/engine.h"

struct tls_server {
	struct tls_engine engine;
};

static int choose_alpn(SSL *ssl, const unsigned char **ret, unsigned char *ret_n, const unsigned char *offered,
		       unsigned offered_n, void *arg)
{
	const struct tls_socket *s = SSL_get_app_data(ssl);
	unsigned char ours[ALPN_WIRE_MAX];
	unsigned char *chosen = NULL;
	size_t n = alpn_wire(s->alpn, ours);

	(void)arg;
	if (n == 0)
		return SSL_TLSEXT_ERR_NOACK;
	if (SSL_select_next_proto(&chosen, ret_n, ours, (unsigned)n, offered, offered_n) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	/* chosen points into ours, which ends here: the same name in what was offered lives longer. */
	while (offered_n && !(offered[0] == *ret_n && memcmp(offered + 1, chosen, *ret_n) == 0)) {
		offered_n -= 1u + offered[0];
		offered += 1u + offered[0];
	}
	*ret = offered + 1;
	return SSL_TLSEXT_ERR_OK;
}

int tls_server_new(struct tls_server **ret, struct error *err)
{
	struct tls_server *server = calloc(1, sizeof(*server));
	SSL_CTX *ctx;

	if (!server)
		return error_sys(err, ENOMEM, "TLS");
	if (engine_init(&server->engine, TLS_server_method(), err) < 0) {
		free(server);
		return -1;
	}
	ctx = server->engine.ctx;
	/* Tickets carry the sessions; nothing is kept here. One ticket is enough: a client that uses it gets another.
	 */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 1);
	SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
	SSL_CTX_set_alpn_select_cb(ctx, choose_alpn, NULL);
	*ret = server;
	return 0;
}

void tls_server_free(struct tls_server *server)
{
	if (!server)
		return;
	engine_done(&server->engine);
	free(server);
}

SSL *tls_server_open(struct tls_server *server, const struct tls_leaf *leaf, struct tls_socket *s)
{
	SSL *ssl = engine_open(&server->engine, s);

	if (!ssl || tls_leaf_use(leaf, ssl) < 0) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_accept_state(ssl);
	return ssl;
}
