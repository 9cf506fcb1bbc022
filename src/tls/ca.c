#include "tls/ca.h"

#include <errno.h>
#include <limits.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tls/engine.h"
#include "tls/name.h"

enum { HOUR = 3600, DAY = 24 * HOUR, SERIAL_BYTES = 16 };

struct tls_ca {
	X509 *cert;
	EVP_PKEY *key;
};

struct extension {
	int nid;
	const char *value;
};

static const struct extension ca_extensions[] = {
	{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
	{NID_key_usage, "critical,keyCertSign"},
	{NID_subject_key_identifier, "hash"},
};

static const struct extension leaf_extensions[] = {
	{NID_basic_constraints, "critical,CA:FALSE"},	{NID_key_usage, "critical,digitalSignature"},
	{NID_ext_key_usage, "serverAuth"},		{NID_subject_key_identifier, "hash"},
	{NID_authority_key_identifier, "keyid:always"},
};

static int add_extensions(X509 *x, X509 *issuer, const struct extension *v, size_t n)
{
	X509_EXTENSION *e;
	X509V3_CTX ctx;
	size_t i;
	int ok;

	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	for (i = 0; i < n; i++) {
		e = X509V3_EXT_conf_nid(NULL, &ctx, v[i].nid, v[i].value);
		ok = e && X509_add_ext(x, e, -1);
		X509_EXTENSION_free(e);
		if (!ok)
			return -1;
	}
	return 0;
}

/* Positive, of full length, and not to be guessed. */
static int set_serial(X509 *x)
{
	unsigned char bytes[SERIAL_BYTES];
	BIGNUM *n = NULL;
	int ok;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return -1;
	bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
	n = BN_bin2bn(bytes, sizeof(bytes), NULL);
	ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x));
	BN_free(n);
	return ok ? 0 : -1;
}

/* Version, serial, validity and key: what CA and leaf have alike. From an hour ago, since clocks differ. */
static int set_common(X509 *x, EVP_PKEY *key, int days)
{
	time_t now = time(NULL);

	return X509_set_version(x, X509_VERSION_3) && set_serial(x) == 0 &&
			       X509_time_adj_ex(X509_getm_notBefore(x), 0, -HOUR, &now) &&
			       X509_time_adj_ex(X509_getm_notAfter(x), days, 0, &now) && X509_set_pubkey(x, key)
		       ? 0
		       : -1;
}

static X509 *make_ca(EVP_PKEY *key)
{
	static const unsigned char common_name[] = "Cordon run CA";
	X509 *x = X509_new();
	X509_NAME *name = x ? X509_get_subject_name(x) : NULL;

	if (x && set_common(x, key, TLS_CA_DAYS) == 0 &&
	    X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_ASC, common_name, -1, -1, 0) &&
	    X509_set_issuer_name(x, name) && add_extensions(x, x, ca_extensions, ARRAY_LEN(ca_extensions)) == 0 &&
	    X509_sign(x, key, EVP_sha256()))
		return x;
	X509_free(x);
	return NULL;
}

int tls_ca_new(struct tls_ca **ret, struct error *err)
{
	struct tls_ca *ca = calloc(1, sizeof(*ca));

	if (!ca)
		return error_sys(err, ENOMEM, "certificate authority");
	engine_library();
	ca->key = EVP_EC_gen("P-256");
	ca->cert = ca->key ? make_ca(ca->key) : NULL;
	if (!ca->cert) {
		tls_ca_free(ca);
		return engine_error(err, "certificate authority");
	}
	*ret = ca;
	return 0;
}

void tls_ca_free(struct tls_ca *ca)
{
	if (!ca)
		return;
	X509_free(ca->cert);
	EVP_PKEY_free(ca->key);
	free(ca);
}

/* Appends n bytes that OpenSSL allocated, wipes and frees them. */
static int put_der(struct buf *out, unsigned char *der, int n, struct error *err)
{
	int r;

	if (n <= 0)
		return engine_error(err, "certificate");
	r = buf_add(out, der, (size_t)n);
	OPENSSL_clear_free(der, (size_t)n);
	return r < 0 ? error_sys(err, r, "certificate") : 0;
}

static int put_cert(struct buf *out, const X509 *x, struct error *err)
{
	unsigned char *der = NULL;
	int n = i2d_X509(x, &der);

	return put_der(out, der, n, err);
}

static int put_key(struct buf *out, const EVP_PKEY *key, struct error *err)
{
	PKCS8_PRIV_KEY_INFO *p8 = EVP_PKEY2PKCS8(key);
	unsigned char *der = NULL;
	int n = p8 ? i2d_PKCS8_PRIV_KEY_INFO(p8, &der) : -1;

	PKCS8_PRIV_KEY_INFO_free(p8);
	return put_der(out, der, n, err);
}

int tls_ca_der(const struct tls_ca *ca, struct buf *out, struct error *err)
{
	return put_cert(out, ca->cert, err);
}

int tls_ca_export(const struct tls_ca *ca, struct buf *cert_der, struct buf *key_der, struct error *err)
{
	return put_cert(cert_der, ca->cert, err) < 0 || put_key(key_der, ca->key, err) < 0 ? -1 : 0;
}

int tls_ca_pem(const struct tls_ca *ca, struct buf *out, struct error *err)
{
	BIO *b = BIO_new(BIO_s_mem());
	char *text = NULL;
	long n;
	int r = -ENOMEM;

	if (b && PEM_write_bio_X509(b, ca->cert)) {
		n = BIO_get_mem_data(b, &text);
		r = buf_add(out, text, (size_t)n);
	}
	BIO_free(b);
	return r < 0 ? error_sys(err, r, "certificate") : 0;
}

int tls_ca_import(struct sv cert_der, struct sv key_der, struct tls_ca **ret, struct error *err)
{
	const unsigned char *c = (const unsigned char *)cert_der.p, *k = (const unsigned char *)key_der.p;
	struct tls_ca *ca;

	if (cert_der.n > INT_MAX || key_der.n > INT_MAX)
		return error_set(err, ERROR_INPUT, "certificate authority: too long");
	ca = calloc(1, sizeof(*ca));
	if (!ca)
		return error_sys(err, ENOMEM, "certificate authority");
	ca->cert = d2i_X509(NULL, &c, (long)cert_der.n);
	ca->key = d2i_AutoPrivateKey(NULL, &k, (long)key_der.n);
	if (!ca->cert || !ca->key || !X509_check_private_key(ca->cert, ca->key) || X509_check_ca(ca->cert) != 1) {
		tls_ca_free(ca);
		return engine_error(err, "certificate authority");
	}
	*ret = ca;
	return 0;
}

/* Built by hand, not from text: a name can never be read as something else. */
static GENERAL_NAME *general_name(struct sv host)
{
	unsigned char address[16];
	int n = name_address(host, address);
	ASN1_STRING *s = n ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
	GENERAL_NAME *name = GENERAL_NAME_new();

	if (!s || !name || !ASN1_STRING_set(s, n ? (const void *)address : host.p, n ? n : (int)host.n)) {
		ASN1_STRING_free(s);
		GENERAL_NAME_free(name);
		return NULL;
	}
	GENERAL_NAME_set0_value(name, n ? GEN_IPADD : GEN_DNS, s);
	return name;
}

/* Critical, as it must be where the subject is empty. */
static int add_host(X509 *x, struct sv host)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	GENERAL_NAME *name = general_name(host);
	int ok = names && name && sk_GENERAL_NAME_push(names, name);

	if (!ok)
		GENERAL_NAME_free(name);
	ok = ok && X509_add1_ext_i2d(x, NID_subject_alt_name, names, 1, X509V3_ADD_DEFAULT);
	GENERAL_NAMES_free(names);
	return ok ? 0 : -1;
}

static X509 *make_leaf(const struct tls_ca *ca, struct sv host, EVP_PKEY *key)
{
	const ASN1_TIME *end = X509_get0_notAfter(ca->cert);
	X509 *x = X509_new();

	if (!x || set_common(x, key, TLS_LEAF_DAYS) < 0 || !X509_set_issuer_name(x, X509_get_subject_name(ca->cert)))
		goto failed;
	if (ASN1_TIME_compare(X509_get0_notAfter(x), end) > 0 && !X509_set1_notAfter(x, end))
		goto failed;
	if (add_extensions(x, ca->cert, leaf_extensions, ARRAY_LEN(leaf_extensions)) < 0 || add_host(x, host) < 0 ||
	    !X509_sign(x, ca->key, EVP_sha256()))
		goto failed;
	return x;
failed:
	X509_free(x);
	return NULL;
}

static bool may_mint(struct sv host)
{
	unsigned char address[16];

	if (sv_starts(host, "*."))
		return name_is_host(sv_n(host.p + 2, host.n - 2)) && host.n <= NAME_MAX_BYTES;
	return name_is_host(host) || name_address(host, address);
}

int tls_ca_mint(const struct tls_ca *ca, struct sv host, struct buf *cert_der, struct buf *key_der, struct error *err)
{
	struct text_shown shown;
	EVP_PKEY *key;
	X509 *x;
	int r;

	if (!may_mint(host))
		return error_set(err, ERROR_INPUT, "no certificate for \"%s\": not a host name or an address",
				 text_show(&shown, host));
	key = EVP_EC_gen("P-256");
	x = key ? make_leaf(ca, host, key) : NULL;
	r = x ? put_cert(cert_der, x, err) : engine_error(err, "leaf certificate");
	if (r == 0)
		r = put_key(key_der, key, err);
	X509_free(x);
	EVP_PKEY_free(key);
	return r;
}
