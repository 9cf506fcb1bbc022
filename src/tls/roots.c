#include "tls/roots.h"

#include <errno.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tls/bundle.h"
#include "tls/engine.h"

enum { ROOTS_MAX = 10000 };

struct root {
	size_t at, n;	    /* in der */
	unsigned long name; /* hash of the subject in canonical form */
	bool served;
};

struct roots {
	struct buf der;
	struct root *v;
	size_t n, cap;
	X509_LOOKUP_METHOD *method;
};

/* Goes to the inside of the element at *p, or past it. */
static int der_step(const unsigned char **p, const unsigned char *end, bool into)
{
	long n;
	int tag, class;

	if (*p >= end || (ASN1_get_object(p, &n, &tag, &class, end - *p) & 0x80) || n > end - *p)
		return -1;
	if (!into)
		*p += n;
	return 0;
}

/* Hash of the subject, without making an X509 of the rest: that is the slow part. */
static int subject_hash(struct sv der, unsigned long *ret)
{
	const unsigned char *p = (const unsigned char *)der.p, *end = p + der.n;
	X509_NAME *name;
	int i, ok = 0;

	if (der_step(&p, end, true) < 0 || der_step(&p, end, true) < 0)
		return -1;
	/* version (where it is there), serial, algorithm, issuer, validity */
	for (i = p < end && *p == 0xa0 ? -1 : 0; i < 4; i++)
		if (der_step(&p, end, false) < 0)
			return -1;
	name = d2i_X509_NAME(NULL, &p, end - p);
	if (name)
		*ret = X509_NAME_hash_ex(name, NULL, NULL, &ok);
	X509_NAME_free(name);
	return ok ? 0 : -1;
}

static int add_root(void *arg, struct sv der, struct error *err)
{
	struct roots *roots = arg;
	struct root root = {.at = roots->der.n, .n = der.n};
	struct root *grown;

	/* One certificate that is beyond us is no reason to do without the others. */
	if (subject_hash(der, &root.name) < 0) {
		ERR_clear_error();
		return 0;
	}
	if (roots->n == ROOTS_MAX)
		return error_set(err, ERROR_INPUT, "more than %d trusted certificates", ROOTS_MAX);
	if (roots->n == roots->cap) {
		grown = realloc(roots->v, (roots->cap * 2 + 64) * sizeof(*grown));
		if (!grown)
			return error_sys(err, ENOMEM, "trusted certificates");
		roots->v = grown;
		roots->cap = roots->cap * 2 + 64;
	}
	if (buf_sv(&roots->der, der) < 0)
		return error_sys(err, buf_failed(&roots->der), "trusted certificates");
	roots->v[roots->n++] = root;
	return 0;
}

static X509 *serve_root(const struct roots *roots, struct root *root, X509_STORE *store)
{
	const unsigned char *p = (const unsigned char *)roots->der.p + root->at;
	X509 *x = d2i_X509(NULL, &p, (long)root->n);

	root->served = true;
	if (x && X509_STORE_add_cert(store, x))
		return x;
	X509_free(x);
	return NULL;
}

/* OpenSSL asks here for what is not in the store yet. All of that name are added; the first is also returned. */
static int by_subject(X509_LOOKUP *lookup, X509_LOOKUP_TYPE type, const X509_NAME *name, X509_OBJECT *ret)
{
	struct roots *roots = X509_LOOKUP_get_method_data(lookup);
	unsigned long hash;
	int ok = 0, found = 0;
	size_t i;
	X509 *x;

	hash = X509_NAME_hash_ex(name, NULL, NULL, &ok);
	if (type != X509_LU_X509 || !ok)
		return 0;
	for (i = 0; i < roots->n; i++) {
		if (roots->v[i].name != hash || roots->v[i].served)
			continue;
		x = serve_root(roots, &roots->v[i], X509_LOOKUP_get_store(lookup));
		if (!x)
			continue;
		/* The caller takes a reference of its own and does not release that of the object; the store keeps x
		 * alive. */
		if (!found && X509_NAME_cmp(X509_get_subject_name(x), name) == 0 && X509_OBJECT_set1_X509(ret, x)) {
			X509_free(x);
			found = 1;
		}
		X509_free(x);
	}
	ERR_clear_error();
	return found;
}

int roots_new(struct sv pem, struct roots **ret, struct error *err)
{
	struct roots *roots = calloc(1, sizeof(*roots));

	if (!roots)
		return error_sys(err, ENOMEM, "trusted certificates");
	buf_init(&roots->der, BUNDLE_MAX);
	if (bundle_each(pem, "trusted certificates", add_root, roots, err) < 0)
		goto failed;
	if (roots->n == 0) {
		(void)error_set(err, ERROR_INPUT, "there is no trusted certificate");
		goto failed;
	}
	roots->method = X509_LOOKUP_meth_new("roots");
	if (!roots->method || !X509_LOOKUP_meth_set_get_by_subject(roots->method, by_subject)) {
		(void)error_sys(err, ENOMEM, "trusted certificates");
		goto failed;
	}
	*ret = roots;
	return 0;
failed:
	roots_free(roots);
	return -1;
}

void roots_free(struct roots *roots)
{
	if (!roots)
		return;
	X509_LOOKUP_meth_free(roots->method);
	buf_done(&roots->der);
	free(roots->v);
	free(roots);
}

int roots_serve(struct roots *roots, X509_STORE *store)
{
	X509_LOOKUP *lookup = X509_STORE_add_lookup(store, roots->method);

	return lookup && X509_LOOKUP_set_method_data(lookup, roots) ? 0 : -1;
}
