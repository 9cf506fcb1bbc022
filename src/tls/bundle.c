#include "tls/bundle.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

static const char begin_line[] = "-----BEGIN CERTIFICATE-----";
static const char end_line[] = "-----END CERTIFICATE-----";

int bundle_read_system(struct buf *out, struct error *err)
{
	static const char *const places[] = {
		"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Arch */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora */
		"/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/ssl/ca-bundle.pem", /* openSUSE */
		"/etc/ssl/cert.pem",	  /* Alpine */
	};
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(places); i++) {
		r = buf_read_file(out, places[i]);
		if (r == 0)
			return 0;
		if (r != -ENOENT && r != -ENOTDIR)
			return error_sys(err, r, "%s", places[i]);
	}
	return error_set(err, ERROR_MISSING,
			 "no bundle of trusted certificates on this system (%s): install ca-certificates", places[0]);
}

/* Decodes the base64 of a block; it must be one DER element and nothing more. Bytes in out, or -1. */
static int decode(struct sv text, unsigned char *out)
{
	EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
	const unsigned char *p = out;
	int n = 0, last = 0, tag, class;
	long inner;

	if (!ctx || text.n > INT_MAX / 2)
		goto bad;
	EVP_DecodeInit(ctx);
	if (EVP_DecodeUpdate(ctx, out, &n, (const unsigned char *)text.p, (int)text.n) < 0 ||
	    EVP_DecodeFinal(ctx, out + n, &last) < 0)
		goto bad;
	n += last;
	if (n == 0 || (ASN1_get_object(&p, &inner, &tag, &class, n) & 0x81) || tag != V_ASN1_SEQUENCE ||
	    p + inner != out + n)
		goto bad;
	EVP_ENCODE_CTX_free(ctx);
	return n;
bad:
	ERR_clear_error();
	EVP_ENCODE_CTX_free(ctx);
	return -1;
}

/* The next block's inside; *pem goes on behind it. 1, 0: no more, -1: it has no end. */
static int next_block(struct sv *pem, struct sv *ret)
{
	const char *start = memmem(pem->p, pem->n, begin_line, sizeof(begin_line) - 1), *end;
	struct sv rest;

	if (!start)
		return 0;
	rest.p = start + sizeof(begin_line) - 1;
	rest.n = (size_t)(pem->p + pem->n - rest.p);
	end = memmem(rest.p, rest.n, end_line, sizeof(end_line) - 1);
	if (!end)
		return -1;
	*ret = sv_n(rest.p, (size_t)(end - rest.p));
	pem->n = (size_t)(pem->p + pem->n - end);
	pem->p = end;
	return 1;
}

int bundle_each(struct sv pem, const char *name, bundle_fn *fn, void *arg, struct error *err)
{
	AUTO_FREE unsigned char *der = NULL;
	struct sv block;
	int n = 0, r, len;

	if (pem.n > BUNDLE_MAX)
		return error_set(err, ERROR_INPUT, "%s: more than %d MiB of certificates", name, BUNDLE_MAX >> 20);
	der = malloc(pem.n + 64);
	if (!der)
		return error_sys(err, ENOMEM, "%s", name);
	while ((r = next_block(&pem, &block)) > 0) {
		n++;
		len = decode(block, der);
		if (len < 0)
			return error_set(err, ERROR_INPUT, "%s: certificate %d is not valid PEM", name, n);
		r = fn(arg, sv_n((const char *)der, (size_t)len), err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return error_set(err, ERROR_INPUT, "%s: certificate %d has no end", name, n + 1);
	return n;
}

static int add_block(void *arg, struct sv der, struct error *err)
{
	enum { LINE = 48 }; /* 64 characters */
	struct buf *out = arg;
	unsigned char line[LINE / 3 * 4 + 1];
	size_t i, n;

	buf_str(out, begin_line);
	buf_char(out, '\n');
	for (i = 0; i < der.n; i += n) {
		n = der.n - i < LINE ? der.n - i : LINE;
		(void)EVP_EncodeBlock(line, (const unsigned char *)der.p + i, (int)n);
		buf_str(out, (const char *)line);
		buf_char(out, '\n');
	}
	buf_str(out, end_line);
	buf_char(out, '\n');
	return buf_failed(out) ? error_sys(err, buf_failed(out), "bundle of certificates") : 0;
}

int bundle_add(struct buf *out, struct sv pem, const char *name, struct error *err)
{
	return bundle_each(pem, name, add_block, out, err);
}
