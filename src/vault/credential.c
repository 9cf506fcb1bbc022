#include "vault/credential.h"

#include "base/cleanup.h"
#include "model/address.h"

const struct credential *credentials_find(const struct credentials *c, struct sv name)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (sv_is(name, c->v[i].name))
			return &c->v[i];
	return NULL;
}

void credentials_free(struct credentials *c)
{
	if (c)
		arena_free(c->arena);
}

size_t credentials_wanted(const struct policy *p, const struct pol_str **out, size_t max)
{
	const struct pol_str *s;
	size_t n = 0, k;
	uint32_t i;

	for (i = 0; i < p->net.allow.n + p->inference.n_providers; i++) {
		s = i < p->net.allow.n ? &p->net.allow.v[i].credential
				       : &p->inference.providers[i - p->net.allow.n].credential;
		for (k = 0; s->s && k < n && k < max && strcmp(out[k]->s, s->s) != 0; k++)
			;
		if (!s->s || k < (n < max ? n : max))
			continue;
		if (n < max)
			out[n] = s;
		n++;
	}
	return n;
}

const char *credential_variable(const struct credential *c, unsigned i)
{
	static const char *const aws[] = {"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"};

	if (c->inject.kind == INJECT_SIGV4)
		return i < ARRAY_LEN(aws) ? aws[i] : NULL;
	return i == 0 ? c->env : NULL;
}

bool credential_host_covers(const char *pattern, struct sv host)
{
	struct address a, b;

	/* an address has many spellings, and a host that is missed is one whose answers are not looked into */
	if (pattern[0] != '*')
		return sv_is(host, pattern) ||
		       (address_parse(sv_of(pattern), &a) && address_parse(host, &b) && address_same(&a, &b));
	/* the dot belongs to what must match, and something must stand before it */
	return host.n > strlen(pattern + 1) && host.p[0] != '.' && sv_ends(host, pattern + 1);
}
