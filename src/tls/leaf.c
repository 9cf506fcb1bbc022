#include "tls/leaf.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "tls/engine.h"
#include "tls/lru.h"

enum { LEAF_MARGIN = 3600 };

struct tls_leaf {
	X509 *cert;
	EVP_PKEY *key;
	unsigned char id[SSL_MAX_SID_CTX_LENGTH]; /* of the certificate: sessions begun with another are not resumed */
	unsigned id_n;
};

static int parse(struct tls_leaf *leaf, struct sv cert, struct sv key)
{
	const unsigned char *c = (const unsigned char *)cert.p, *k = (const unsigned char *)key.p;

	if (cert.n > INT_MAX || key.n > INT_MAX)
		return -1;
	leaf->cert = d2i_X509(NULL, &c, (long)cert.n);
	leaf->key = d2i_AutoPrivateKey(NULL, &k, (long)key.n);
	if (!leaf->cert || !leaf->key || c != (const unsigned char *)cert.p + cert.n)
		return -1;
	if (!X509_check_private_key(leaf->cert, leaf->key))
		return -1;
	_Static_assert(SSL_MAX_SID_CTX_LENGTH == 32, "a SHA-256 digest fills it");
	return X509_digest(leaf->cert, EVP_sha256(), leaf->id, &leaf->id_n) ? 0 : -1;
}

int tls_leaf_new(struct sv cert, struct sv key, struct tls_leaf **ret, struct error *err)
{
	struct tls_leaf *leaf = calloc(1, sizeof(*leaf));

	if (!leaf)
		return error_sys(err, ENOMEM, "leaf certificate");
	if (parse(leaf, cert, key) < 0) {
		tls_leaf_free(leaf);
		return engine_error(err, "leaf certificate");
	}
	*ret = leaf;
	return 0;
}

void tls_leaf_free(struct tls_leaf *leaf)
{
	if (!leaf)
		return;
	X509_free(leaf->cert);
	EVP_PKEY_free(leaf->key);
	free(leaf);
}

int tls_leaf_use(const struct tls_leaf *leaf, SSL *ssl)
{
	return SSL_use_cert_and_key(ssl, leaf->cert, leaf->key, NULL, 1) &&
			       SSL_set_session_id_context(ssl, leaf->id, leaf->id_n)
		       ? 0
		       : -1;
}

struct leaf_cache {
	struct lru *lru;
};

static void free_leaf(void *object)
{
	tls_leaf_free(object);
}

struct leaf_cache *leaf_cache_new(size_t max)
{
	struct leaf_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->lru = lru_new(max, free_leaf);
	if (!cache->lru) {
		free(cache);
		return NULL;
	}
	return cache;
}

void leaf_cache_free(struct leaf_cache *cache)
{
	if (!cache)
		return;
	lru_free(cache->lru);
	free(cache);
}

const struct tls_leaf *leaf_cache_find(struct leaf_cache *cache, struct sv host, time_t now)
{
	struct tls_leaf *leaf = lru_find(cache->lru, host);
	time_t margin = now + LEAF_MARGIN;

	return leaf && X509_cmp_time(X509_get0_notAfter(leaf->cert), &margin) > 0 ? leaf : NULL;
}

int leaf_cache_take(struct leaf_cache *cache, struct sv host, struct tls_leaf *leaf)
{
	return lru_take(cache->lru, host, leaf);
}
