#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "tls/bundle.h"

/*
 * A trust store of Java's is a PKCS #12 file (RFC 7292) of certificates that say that they are trusted. Written here
 * byte by byte, because the library would parse each of the hundred and forty certificates into objects only to write
 * the same bytes again, which takes longer than the whole start of a run.
 *
 * Certificates are public, so they are not encrypted; the MAC is what Java checks the password by.
 */
enum {
	DER_INTEGER = 0x02,
	DER_OCTETS = 0x04,
	DER_BMP = 0x1e,
	DER_SEQUENCE = 0x30,
	DER_SET = 0x31,
	DER_CONTEXT_0 = 0xa0
};
enum { STORE_MAX = 2 * BUNDLE_MAX, SALT = 16, ITERATIONS = 2048, MAC = 32 };

#define OID(bytes) sv_n(bytes, sizeof(bytes) - 1)
#define PKCS7_DATA OID("\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01")
#define CERT_BAG OID("\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x03")
#define X509_CERTIFICATE OID("\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x09\x16\x01")
#define FRIENDLY_NAME OID("\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14")
/* 2.16.840.1.113894.746875.1.1, with "any extended key usage" as its value: Java takes a certificate for a trusted one
 * only where it says what for */
#define TRUSTED_KEY_USAGE OID("\x06\x0c\x60\x86\x48\x01\x86\xf9\x66\xad\xca\x7b\x01\x01")
#define ANY_USE OID("\x06\x04\x55\x1d\x25\x00")
#define SHA256_NULL OID("\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00")
#define VERSION_3 OID("\x02\x01\x03")

static void put_header(struct buf *out, unsigned tag, size_t n)
{
	unsigned bytes = n < 0x80 ? 0 : n < 0x100 ? 1 : n < 0x10000 ? 2 : n < 0x1000000 ? 3 : 4;

	(void)buf_char(out, (char)tag);
	(void)buf_char(out, (char)(bytes ? 0x80 | bytes : n));
	while (bytes--)
		(void)buf_char(out, (char)(n >> 8 * bytes));
}

static void put(struct buf *out, unsigned tag, struct sv content)
{
	put_header(out, tag, content.n);
	(void)buf_sv(out, content);
}

/* What the buffer holds becomes the content of one element. */
static void wrap(struct buf *b, unsigned tag)
{
	struct buf outer;

	buf_init(&outer, STORE_MAX);
	put(&outer, tag, buf_view(b));
	buf_done(b);
	*b = outer;
}

static void put_attribute(struct buf *out, struct sv oid, unsigned tag, struct sv value)
{
	AUTO_BUF b = {0};

	buf_init(&b, 1024);
	if (tag)
		put(&b, tag, value);
	else
		(void)buf_sv(&b, value);
	wrap(&b, DER_SET);
	put_header(out, DER_SEQUENCE, oid.n + b.n);
	(void)buf_sv(out, oid);
	(void)buf_sv(out, buf_view(&b));
}

/* Java tells entries apart by their names. */
static void put_attributes(struct buf *out, int number)
{
	char name[32], wide[2 * sizeof(name)];
	int n = snprintf(name, sizeof(name), "cordon-%d", number), i;
	AUTO_BUF b = {0};

	for (i = 0; i < n; i++) {
		wide[2 * i] = 0;
		wide[2 * i + 1] = name[i];
	}
	buf_init(&b, 1024);
	put_attribute(&b, FRIENDLY_NAME, DER_BMP, sv_n(wide, 2 * (size_t)n));
	put_attribute(&b, TRUSTED_KEY_USAGE, 0, ANY_USE);
	put(out, DER_SET, buf_view(&b));
}

struct java {
	struct buf bags;
	int n;
};

static int add_trusted(void *arg, struct sv der, struct error *err)
{
	struct java *java = arg;
	AUTO_BUF b = {0};

	(void)err;
	buf_init(&b, BUNDLE_MAX);
	put(&b, DER_OCTETS, der);
	wrap(&b, DER_CONTEXT_0);
	{
		AUTO_BUF bag = {0};

		buf_init(&bag, BUNDLE_MAX);
		put_header(&bag, DER_SEQUENCE, X509_CERTIFICATE.n + b.n);
		(void)buf_sv(&bag, X509_CERTIFICATE);
		(void)buf_sv(&bag, buf_view(&b));
		wrap(&bag, DER_CONTEXT_0);
		buf_clear(&b);
		(void)buf_sv(&b, CERT_BAG);
		(void)buf_sv(&b, buf_view(&bag));
	}
	put_attributes(&b, ++java->n);
	put(&java->bags, DER_SEQUENCE, buf_view(&b));
	return 0;
}

/* The buffer becomes: SEQUENCE { data, [0] { OCTET STRING { what it was } } }. */
static void wrap_data(struct buf *b)
{
	struct buf outer;

	wrap(b, DER_OCTETS);
	wrap(b, DER_CONTEXT_0);
	buf_init(&outer, STORE_MAX);
	(void)buf_sv(&outer, PKCS7_DATA);
	(void)buf_sv(&outer, buf_view(b));
	buf_done(b);
	*b = outer;
	wrap(b, DER_SEQUENCE);
}

static int put_mac(struct buf *out, struct sv safe)
{
	unsigned char salt[SALT], key[MAC], mac[MAC];
	unsigned n = sizeof(mac);
	AUTO_BUF b = {0};

	if (RAND_bytes(salt, sizeof(salt)) != 1 ||
	    !PKCS12_key_gen_utf8("changeit", 8, salt, sizeof(salt), PKCS12_MAC_ID, ITERATIONS, sizeof(key), key,
				 EVP_sha256()) ||
	    !HMAC(EVP_sha256(), key, sizeof(key), (const unsigned char *)safe.p, safe.n, mac, &n))
		return -ENOMEM;
	buf_init(&b, 256);
	(void)buf_sv(&b, SHA256_NULL);
	put(&b, DER_OCTETS, sv_n((const char *)mac, sizeof(mac)));
	wrap(&b, DER_SEQUENCE);
	put(&b, DER_OCTETS, sv_n((const char *)salt, sizeof(salt)));
	put(&b, DER_INTEGER, sv_n("\x08\x00", 2)); /* ITERATIONS */
	put(out, DER_SEQUENCE, buf_view(&b));
	return buf_failed(&b);
}

_Static_assert(ITERATIONS == 0x0800, "as put_mac() writes it");

int bundle_java(struct sv pem, struct buf *out, struct error *err)
{
	struct java java = {.n = 0};
	AUTO_BUF mac = {0};
	int r;

	buf_init(&java.bags, STORE_MAX);
	buf_init(&mac, 256);
	r = bundle_each(pem, "Java trust store", add_trusted, &java, err);
	if (r >= 0) {
		wrap(&java.bags, DER_SEQUENCE);
		wrap_data(&java.bags);
		wrap(&java.bags, DER_SEQUENCE);
		r = put_mac(&mac, buf_view(&java.bags));
		wrap_data(&java.bags);
		put_header(out, DER_SEQUENCE, VERSION_3.n + java.bags.n + mac.n);
		(void)buf_sv(out, VERSION_3);
		(void)buf_sv(out, buf_view(&java.bags));
		(void)buf_sv(out, buf_view(&mac));
		if (r == 0 && (buf_failed(&java.bags) || buf_failed(out)))
			r = -ENOMEM;
		if (r < 0)
			(void)error_sys(err, r, "Java trust store");
	}
	buf_done(&java.bags);
	return r < 0 ? -1 : 0;
}
