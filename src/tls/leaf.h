/*
 * leaf: a certificate and its key, ready to serve a TLS stream with; and a cache of them by host name, so that a host
 * is minted for once.
 *
 * The cache owns its leaves. A leaf that was found is good until the next leaf_cache_ function; streams keep what they
 * need of it. Past its maximum the one that was not used for longest goes. Leaves near their end are not found.
 */
#ifndef CORDON_TLS_LEAF_H
#define CORDON_TLS_LEAF_H

#include <stddef.h>
#include <time.h>

#include "base/error.h"
#include "base/sv.h"

struct tls_leaf;
struct leaf_cache;

/* From DER: a certificate, and its private key (PKCS #8). -1: they do not parse, or not belong together. */
int tls_leaf_new(struct sv cert, struct sv key, struct tls_leaf **ret, struct error *err);
void tls_leaf_free(struct tls_leaf *leaf); /* NULL is fine */

struct leaf_cache *leaf_cache_new(size_t max); /* max: 1 or more. NULL: no memory */
void leaf_cache_free(struct leaf_cache *cache); /* NULL is fine */

/* The leaf of that host (compared as bytes: give it in lower case), or NULL. now: one that ends within an hour of it
 * does not count. */
const struct tls_leaf *leaf_cache_find(struct leaf_cache *cache, struct sv host, time_t now);

/* Takes leaf, in place of an older one of that host. 0 or -ENOMEM (then leaf is freed). */
int leaf_cache_take(struct leaf_cache *cache, struct sv host, struct tls_leaf *leaf);

#endif
