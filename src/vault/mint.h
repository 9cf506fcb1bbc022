/*
 * mint: the one place where the vault uses the run's CA (tls/ca.h).
 */
#ifndef CORDON_VAULT_MINT_H
#define CORDON_VAULT_MINT_H

#include "base/buf.h"
#include "base/error.h"

struct mint;

/* Makes the CA, and one leaf that is thrown away: what the TLS library loads on first use is loaded before the role is
 * confined. */
int mint_new(struct mint **ret, struct error *err);
void mint_free(struct mint *m); /* NULL is fine */

int mint_certificate(const struct mint *m, struct buf *pem, struct error *err);
/* Certificate and private key, DER. The caller wipes the key. */
int mint_leaf(const struct mint *m, struct sv host, struct buf *cert, struct buf *key, struct error *err);

#endif
