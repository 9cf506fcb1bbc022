#include "vault/credential.h"

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

bool credential_host_covers(const char *pattern, struct sv host)
{
	if (pattern[0] != '*')
		return sv_is(host, pattern);
	/* the dot belongs to what must match, and something must stand before it */
	return host.n > strlen(pattern + 1) && host.p[0] != '.' && sv_ends(host, pattern + 1);
}
