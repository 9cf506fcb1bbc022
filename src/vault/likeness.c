#include "vault/likeness.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/cleanup.h"
#include "vault/source.h"

struct likeness {
	EVP_MAC *kind;
	EVP_MAC_CTX *mac;
	const struct likeness_base *base;
	bool failed;
};

static void add_bytes(struct likeness *l, const void *p, size_t n)
{
	uint64_t size = n;

	/* the size first: no two lists read the same */
	if (EVP_MAC_update(l->mac, (const unsigned char *)&size, sizeof(size)) != 1 ||
	    (n && EVP_MAC_update(l->mac, p, n) != 1))
		l->failed = true;
}

static void add(struct likeness *l, const char *s)
{
	/* none is not the same as an empty one */
	add_bytes(l, s ? s : "", s ? strlen(s) + 1 : 0);
}

static void add_list(struct likeness *l, const char *const *v, uint32_t n)
{
	uint32_t i;

	add_bytes(l, &n, sizeof(n));
	for (i = 0; i < n; i++)
		add(l, v[i]);
}

static int add_plain(struct sv plain, void *arg)
{
	add_bytes(arg, plain.p, plain.n);
	return 0;
}

static void add_values(struct likeness *l, struct secret *const parts[GRANT_PARTS])
{
	unsigned i;

	for (i = 0; i < GRANT_PARTS; i++) {
		if (!parts[i])
			add(l, NULL);
		else if (secret_use(parts[i], add_plain, l) < 0)
			l->failed = true;
	}
}

static void add_name(struct sha256 *h, const char *s)
{
	/* the NUL too, and none is not the same as an empty one */
	sha256_add(h, s ? s : "", s ? strlen(s) + 1 : 0);
	sha256_add(h, s ? "+" : "-", 2);
}

void likeness_here(struct likeness_base *base)
{
	char cwd[PATH_MAX];
	struct sha256 h;
	size_t i;

	base->nowhere = !getcwd(cwd, sizeof(cwd));
	sha256_init(&h);
	add_name(&h, base->nowhere ? NULL : cwd);
	for (i = 0; i < SOURCE_VARIABLES; i++)
		if (source_variables[i].decides)
			add_name(&h, getenv(source_variables[i].name));
	sha256_done(&h, base->here);
}

static void add_command(struct likeness *l)
{
	l->failed = l->failed || l->base->nowhere;
	add_bytes(l, l->base->here, sizeof(l->base->here));
}

struct likeness *likeness_new(const struct likeness_base *base, struct sv nonce, struct sv about)
{
	struct likeness *l = calloc(1, sizeof(*l));
	OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", (char[]){"SHA256"}, 0),
			       OSSL_PARAM_construct_end()};

	if (!l)
		return NULL;
	l->base = base;
	l->kind = EVP_MAC_fetch(NULL, "HMAC", NULL);
	l->mac = l->kind ? EVP_MAC_CTX_new(l->kind) : NULL;
	if (!l->mac || nonce.n != LIKENESS_NONCE ||
	    EVP_MAC_init(l->mac, (const unsigned char *)nonce.p, nonce.n, params) != 1) {
		unsigned char unused[LIKENESS_SIZE];

		l->failed = true;
		(void)likeness_end(l, unused);
		return NULL;
	}
	add_bytes(l, base->ca, sizeof(base->ca));
	add_bytes(l, about.p, about.n);
	return l;
}

void likeness_add(struct likeness *l, const struct credential *c, struct secret *const parts[GRANT_PARTS])
{
	const struct inject_form *f = &c->inject;
	const uint32_t kinds[] = {c->from.kind, f->kind};

	add(l, c->name);
	add_bytes(l, kinds, sizeof(kinds));
	add_list(l, c->from.words, c->from.n);
	add_list(l, c->hosts, c->n_hosts);
	add_list(l, (const char *const[]){f->name, f->before, f->after, f->user, f->region, f->service, c->env}, 7);
	if (c->from.kind == SOURCE_COMMAND)
		add_command(l);
	else
		add_values(l, parts);
}

int likeness_end(struct likeness *l, unsigned char ret[LIKENESS_SIZE])
{
	unsigned char out[LIKENESS_SIZE];
	size_t n = 0;
	int r;

	if (!l)
		return -1;
	r = !l->failed && EVP_MAC_final(l->mac, out, &n, sizeof(out)) == 1 && n == sizeof(out) ? 0 : -1;
	if (r == 0)
		memcpy(ret, out, sizeof(out));
	EVP_MAC_CTX_free(l->mac);
	EVP_MAC_free(l->kind);
	free(l);
	return r;
}
