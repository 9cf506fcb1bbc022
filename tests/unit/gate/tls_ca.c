#include "check.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "tls/bundle.h"
#include "tls/ca.h"
#include "tls/leaf.h"

static struct error err;

static struct tls_ca *new_ca(void)
{
	struct tls_ca *ca = NULL;

	if (tls_ca_new(&ca, &err) < 0) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
	return ca;
}

static X509 *parse(struct sv der)
{
	const unsigned char *p = (const unsigned char *)der.p;

	return d2i_X509(NULL, &p, (long)der.n);
}

static X509 *mint(const struct tls_ca *ca, const char *host)
{
	AUTO_BUF cert = {0}, key = {0};

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	return tls_ca_mint(ca, sv_of(host), &cert, &key, &err) == 0 ? parse(buf_view(&cert)) : NULL;
}

static X509 *ca_cert(const struct tls_ca *ca)
{
	AUTO_BUF der = {0};

	buf_init(&der, 10000);
	CHECK(tls_ca_der(ca, &der, &err) == 0);
	return parse(buf_view(&der));
}

/* Verifies as `openssl verify -x509_strict -purpose sslserver` does: X509_V_OK or what is wrong. */
static int verify(X509 *root, X509 *leaf)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	int r;

	X509_STORE_add_cert(store, root);
	X509_STORE_CTX_init(ctx, store, leaf, NULL);
	X509_STORE_CTX_set_flags(ctx, X509_V_FLAG_X509_STRICT | X509_V_FLAG_CHECK_SS_SIGNATURE);
	X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_SERVER);
	(void)X509_verify_cert(ctx);
	r = X509_STORE_CTX_get_error(ctx);
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	return r;
}

static void a_leaf_passes_a_strict_verifier_for_its_host_only(void)
{
	struct tls_ca *ca = new_ca();
	X509 *root = ca_cert(ca), *leaf = mint(ca, "api.example.test");

	CHECK(leaf && verify(root, leaf) == X509_V_OK);
	CHECK(X509_check_host(leaf, "api.example.test", 0, 0, NULL) == 1);
	CHECK(X509_check_host(leaf, "example.test", 0, 0, NULL) == 0);
	CHECK(X509_check_ip_asc(leaf, "127.0.0.1", 0) == 0);
	CHECK(X509_NAME_entry_count(X509_get_subject_name(leaf)) == 0);
	X509_free(leaf);
	X509_free(root);
	tls_ca_free(ca);
}

static void addresses_get_leaves_of_their_own_kind(void)
{
	static const char *const addresses[] = {"127.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"};
	struct tls_ca *ca = new_ca();
	X509 *root = ca_cert(ca), *leaf;
	size_t i;

	for (i = 0; i < ARRAY_LEN(addresses); i++) {
		leaf = mint(ca, addresses[i]);
		CHECK(leaf && verify(root, leaf) == X509_V_OK);
		CHECK(leaf && X509_check_ip_asc(leaf, addresses[i], 0) == 1);
		CHECK(leaf && X509_check_ip_asc(leaf, "127.0.0.2", 0) == 0);
		X509_free(leaf);
	}
	X509_free(root);
	tls_ca_free(ca);
}

static void what_is_no_host_gets_no_certificate(void)
{
	static const char *const bad[] = {"",      "A.test", "a.test.", "a..b",   "a,DNS:b", "*.",       "*",
					  "*.*.a", "a b",    "[::1]",   "::1%lo", "1.2.3",   "https://a"};
	struct tls_ca *ca = new_ca();
	X509 *wild = mint(ca, "*.example.test");
	AUTO_BUF cert = {0}, key = {0};
	size_t i;

	CHECK(wild && X509_check_host(wild, "a.example.test", 0, 0, NULL) == 1);
	X509_free(wild);
	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(tls_ca_mint(ca, sv_of(bad[i]), &cert, &key, &err) == -1);
	CHECK(tls_ca_mint(ca, sv_n("a.test\0.evil", 12), &cert, &key, &err) == -1);
	CHECK(cert.n == 0 && key.n == 0);
	tls_ca_free(ca);
}

static void a_run_does_not_trust_the_leaf_of_another(void)
{
	struct tls_ca *a = new_ca(), *b = new_ca();
	X509 *root = ca_cert(b), *leaf = mint(a, "api.example.test");

	CHECK(leaf && verify(root, leaf) == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
	X509_free(root);
	X509_free(leaf);
	tls_ca_free(a);
	tls_ca_free(b);
}

static void the_ca_can_sign_leaves_and_nothing_else(void)
{
	struct tls_ca *ca = new_ca();
	X509 *root = ca_cert(ca);
	time_t now = time(NULL), before = now - 3590, later = now + 60L * 24 * 3600;

	CHECK(X509_check_ca(root) == 1 && X509_get_pathlen(root) == 0);
	CHECK(X509_get_key_usage(root) == KU_KEY_CERT_SIGN);
	CHECK(X509_cmp_time(X509_get0_notBefore(root), &before) < 0);
	CHECK(X509_cmp_time(X509_get0_notAfter(root), &later) < 0);
	X509_free(root);
	tls_ca_free(ca);
}

static void serials_differ_and_are_long(void)
{
	struct tls_ca *ca = new_ca();
	X509 *a = mint(ca, "a.test"), *b = mint(ca, "a.test");

	CHECK(a && b && ASN1_INTEGER_cmp(X509_get0_serialNumber(a), X509_get0_serialNumber(b)) != 0);
	CHECK(ASN1_STRING_length((const ASN1_STRING *)X509_get0_serialNumber(a)) == 16);
	X509_free(a);
	X509_free(b);
	tls_ca_free(ca);
}

static void a_ca_that_went_through_der_mints_what_the_old_root_verifies(void)
{
	struct tls_ca *ca = new_ca(), *again = NULL, *other = new_ca();
	AUTO_BUF cert = {0}, key = {0}, other_cert = {0}, other_key = {0};
	X509 *root = ca_cert(ca), *leaf;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	buf_init(&other_cert, 10000);
	buf_init(&other_key, 10000);
	CHECK(tls_ca_export(ca, &cert, &key, &err) == 0 && tls_ca_export(other, &other_cert, &other_key, &err) == 0);
	CHECK(tls_ca_import(buf_view(&cert), buf_view(&other_key), &again, &err) == -1);
	CHECK(tls_ca_import(buf_view(&cert), buf_view(&key), &again, &err) == 0);
	leaf = again ? mint(again, "a.test") : NULL;
	CHECK(leaf && verify(root, leaf) == X509_V_OK);
	X509_free(leaf);
	X509_free(root);
	tls_ca_free(again);
	tls_ca_free(other);
	tls_ca_free(ca);
}

static struct tls_leaf *new_leaf(const struct tls_ca *ca, const char *host)
{
	AUTO_BUF cert = {0}, key = {0};
	struct tls_leaf *leaf = NULL;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	CHECK(tls_ca_mint(ca, sv_of(host), &cert, &key, &err) == 0);
	CHECK(tls_leaf_new(buf_view(&cert), buf_view(&key), &leaf, &err) == 0);
	return leaf;
}

static void the_cache_forgets_the_host_that_was_not_asked_for_longest(void)
{
	struct tls_ca *ca = new_ca();
	struct leaf_cache *cache = leaf_cache_new(2);
	const struct tls_leaf *a;
	time_t now = time(NULL);

	leaf_cache_take(cache, sv_of("a.test"), new_leaf(ca, "a.test"));
	leaf_cache_take(cache, sv_of("b.test"), new_leaf(ca, "b.test"));
	a = leaf_cache_find(cache, sv_of("a.test"), now);
	CHECK(a);
	leaf_cache_take(cache, sv_of("c.test"), new_leaf(ca, "c.test"));
	CHECK(!leaf_cache_find(cache, sv_of("b.test"), now));
	CHECK(leaf_cache_find(cache, sv_of("a.test"), now) == a);
	CHECK(leaf_cache_find(cache, sv_of("c.test"), now));
	CHECK(!leaf_cache_find(cache, sv_of("c.test"), now + TLS_LEAF_DAYS * 24L * 3600));
	leaf_cache_take(cache, sv_of("c.test"), new_leaf(ca, "c.test"));
	CHECK(leaf_cache_find(cache, sv_of("a.test"), now) == a);
	leaf_cache_free(cache);
	tls_ca_free(ca);
}

static void a_leaf_with_the_key_of_another_is_refused(void)
{
	struct tls_ca *ca = new_ca();
	AUTO_BUF cert = {0}, key = {0}, other = {0};
	struct tls_leaf *leaf = NULL;

	buf_init(&cert, 10000);
	buf_init(&key, 10000);
	buf_init(&other, 10000);
	CHECK(tls_ca_mint(ca, sv_of("a.test"), &cert, &key, &err) == 0);
	buf_clear(&key);
	CHECK(tls_ca_mint(ca, sv_of("a.test"), &other, &key, &err) == 0);
	CHECK(tls_leaf_new(buf_view(&cert), buf_view(&key), &leaf, &err) == -1 && !leaf);
	CHECK(tls_leaf_new(sv_of("junk"), buf_view(&key), &leaf, &err) == -1 && !leaf);
	tls_ca_free(ca);
}

static void a_key_in_an_operators_file_stays_out_of_the_bundle(void)
{
	struct tls_ca *ca = new_ca();
	AUTO_BUF pem = {0}, mixed = {0}, out = {0};

	buf_init(&pem, 10000);
	buf_init(&mixed, 20000);
	buf_init(&out, 20000);
	CHECK(tls_ca_pem(ca, &pem, &err) == 0);
	buf_str(&mixed, "# corporate\n-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
	buf_sv(&mixed, buf_view(&pem));
	mixed.n--;
	CHECK(bundle_add(&out, buf_view(&mixed), "ca_file", &err) == 1);
	CHECK(bundle_add(&out, buf_view(&pem), "ours", &err) == 1);
	CHECK(out.n == 2 * pem.n && memcmp(out.p, pem.p, pem.n) == 0 && memcmp(out.p + pem.n, pem.p, pem.n) == 0);
	tls_ca_free(ca);
}

static void a_broken_block_is_named(void)
{
	AUTO_BUF out = {0};

	buf_init(&out, 20000);
	CHECK(bundle_add(&out, sv_of("-----BEGIN CERTIFICATE-----\nMAA=\n"), "f", &err) == -1);
	CHECK_STR(err.text, "f: certificate 1 has no end");
	CHECK(bundle_add(&out, sv_of("-----BEGIN CERTIFICATE-----\nM!A=\n-----END CERTIFICATE-----\n"), "f", &err) ==
	      -1);
	CHECK_STR(err.text, "f: certificate 1 is not valid PEM");
	CHECK(bundle_add(&out,
			 sv_of("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\nAAAA\n-----END "
			       "CERTIFICATE-----\n"),
			 "f", &err) == -1);
	CHECK(bundle_add(&out, sv_of("-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n"), "f", &err) ==
	      -1);
	CHECK(bundle_add(&out, sv_of("nothing"), "f", &err) == 0);
}

static void the_java_store_holds_the_certificates_under_its_password(void)
{
	struct tls_ca *a = new_ca(), *b = new_ca();
	AUTO_BUF pem = {0}, store = {0};
	STACK_OF(X509) *certs = NULL;
	EVP_PKEY *key = NULL;
	X509 *first = NULL;
	const unsigned char *p;
	PKCS12 *p12;

	buf_init(&pem, 20000);
	buf_init(&store, 20000);
	CHECK(tls_ca_pem(a, &pem, &err) == 0 && tls_ca_pem(b, &pem, &err) == 0);
	CHECK(bundle_java(buf_view(&pem), &store, &err) == 0);
	p = (const unsigned char *)store.p;
	p12 = d2i_PKCS12(NULL, &p, (long)store.n);
	CHECK(p12 && PKCS12_verify_mac(p12, "changeit", -1) == 1 && PKCS12_verify_mac(p12, "changed", -1) == 0);
	CHECK(PKCS12_parse(p12, "changeit", &key, &first, &certs) == 1);
	CHECK(!key && sk_X509_num(certs) + (first != NULL) == 2);
	ERR_clear_error();
	X509_free(first);
	EVP_PKEY_free(key);
	sk_X509_pop_free(certs, X509_free);
	PKCS12_free(p12);
	tls_ca_free(a);
	tls_ca_free(b);
}

static void write_file(const char *folder, const char *name, struct sv s)
{
	char path[200];
	AUTO_FD fd = -1;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write_all(fd, s.p, s.n) == 0);
}

static int run_in(const char *folder, const char *command)
{
	char line[600];

	snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", folder, command);
	return system(line);
}

/* Other readers than the library that wrote it; where they are not installed there is nothing to ask. */
static void other_programs_accept_chain_and_store(void)
{
	char folder[] = "/tmp/cordon-tls-XXXXXX";
	struct tls_ca *ca = new_ca();
	AUTO_BUF root = {0}, store = {0}, leaf = {0}, key = {0};

	buf_init(&root, 10000);
	buf_init(&store, 20000);
	buf_init(&leaf, 10000);
	buf_init(&key, 10000);
	CHECK(mkdtemp(folder) != NULL);
	CHECK(tls_ca_pem(ca, &root, &err) == 0 && bundle_java(buf_view(&root), &store, &err) == 0);
	CHECK(tls_ca_mint(ca, sv_of("api.example.test"), &leaf, &key, &err) == 0);
	write_file(folder, "root.pem", buf_view(&root));
	write_file(folder, "store.p12", buf_view(&store));
	write_file(folder, "leaf.der", buf_view(&leaf));
	if (run_in(folder, "command -v openssl") == 0)
		CHECK(run_in(folder, "openssl verify -x509_strict -purpose sslserver -verify_hostname api.example.test "
				     "-CAfile root.pem leaf.der") == 0);
	if (run_in(folder, "command -v keytool") == 0)
		CHECK(run_in(folder, "keytool -list -keystore store.p12 -storepass changeit | grep trustedCertEntry") ==
		      0);
	CHECK(run_in(folder, "rm -f root.pem store.p12 leaf.der") == 0);
	snprintf(store.p, store.cap, "%s/log", folder);
	CHECK(unlink(store.p) == 0 && rmdir(folder) == 0);
	tls_ca_free(ca);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_leaf_passes_a_strict_verifier_for_its_host_only),
		CASE(addresses_get_leaves_of_their_own_kind),
		CASE(what_is_no_host_gets_no_certificate),
		CASE(a_run_does_not_trust_the_leaf_of_another),
		CASE(the_ca_can_sign_leaves_and_nothing_else),
		CASE(serials_differ_and_are_long),
		CASE(a_ca_that_went_through_der_mints_what_the_old_root_verifies),
		CASE(the_cache_forgets_the_host_that_was_not_asked_for_longest),
		CASE(a_leaf_with_the_key_of_another_is_refused),
		CASE(a_key_in_an_operators_file_stays_out_of_the_bundle),
		CASE(a_broken_block_is_named),
		CASE(the_java_store_holds_the_certificates_under_its_password),
		CASE(other_programs_accept_chain_and_store),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
