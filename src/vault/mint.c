#include "vault/mint.h"

#include <errno.h>
#include <stdlib.h>

#include "base/secret.h"
#include "tls/ca.h"

struct mint {
	struct tls_ca *ca;
};

int mint_new(struct mint **ret, struct error *err)
{
	struct mint *m = calloc(1, sizeof(*m));
	AUTO_BUF cert = {0};
	AUTO_BUF key = {0};

	if (!m)
		return error_sys(err, ENOMEM, "CA");
	buf_init(&cert, 16 * 1024);
	buf_init(&key, 16 * 1024);
	if (tls_ca_new(&m->ca, err) < 0 || mint_leaf(m, sv_of("start.invalid"), &cert, &key, err) < 0) {
		mint_free(m);
		return -1;
	}
	*ret = m;
	return 0;
}

void mint_free(struct mint *m)
{
	if (!m)
		return;
	tls_ca_free(m->ca);
	free(m);
}

int mint_certificate(const struct mint *m, struct buf *pem, struct error *err)
{
	return tls_ca_pem(m->ca, pem, err);
}

int mint_leaf(const struct mint *m, struct sv host, struct buf *cert, struct buf *key, struct error *err)
{
	return tls_ca_mint(m->ca, host, cert, key, err);
}
