#include "gate/egress/grants.h"

#include <errno.h>

#include "gate/egress/scrub_grants.h"
#include "vault/vault.h"

static void drop(struct grant **v, unsigned *n)
{
	while (*n > 0)
		grant_free(v[--*n]);
}

static int add(struct grants *g, struct sv body)
{
	struct grant *one;
	int r;

	if (g->n_coming == GRANTS_MAX)
		return -EPROTO;
	r = grant_decode(body, &one);
	if (r == 0)
		g->coming[g->n_coming++] = one;
	return r;
}

static int swap(struct grants *g, struct sv body)
{
	struct scrub *scrub = NULL;
	struct wire_in in;
	uint32_t n;
	int r;

	wire_in_init(&in, body);
	n = wire_get_u32(&in);
	if (!wire_ok(&in) || n != g->n_coming)
		return -EPROTO;
	r = n ? scrub_from_grants(g->coming, n, &scrub) : 0;
	if (r < 0)
		return r;
	drop(g->v, &g->n);
	scrub_unref(g->scrub);
	g->scrub = scrub;
	memcpy(g->v, g->coming, n * sizeof(*g->v));
	g->n = n;
	g->n_coming = 0;
	g->complete = true;
	return 0;
}

int grants_message(struct grants *g, struct wire_message *m)
{
	int r = -EPROTO;

	if (m->type == VAULT_GRANT)
		r = add(g, buf_view(&m->body));
	else if (m->type == VAULT_GRANTS)
		r = swap(g, buf_view(&m->body));
	if (m->body.p)
		secret_wipe(m->body.p, m->body.cap);
	return r;
}

void grants_done(struct grants *g)
{
	drop(g->v, &g->n);
	drop(g->coming, &g->n_coming);
	scrub_unref(g->scrub);
	g->scrub = NULL;
}

const struct grant *grants_find(const struct grants *g, const char *name)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->v[i]->name, name) == 0)
			return g->v[i];
	return NULL;
}

bool grants_cover(const struct grants *g, struct sv host)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (grant_covers(g->v[i], host))
			return true;
	return false;
}
