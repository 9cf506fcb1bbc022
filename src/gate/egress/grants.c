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

static void drop_scrubs(struct grants *g)
{
	unsigned i;

	for (i = 0; i < GRANTS_SCRUBS; i++) {
		scrub_unref(g->scrubs[i].scrub);
		g->scrubs[i].scrub = NULL;
	}
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
	/* values that cannot be looked for are not taken */
	r = n ? scrub_from_grants(g->coming, n, &scrub) : 0;
	if (r < 0)
		return r;
	scrub_unref(scrub);
	drop(g->v, &g->n);
	drop_scrubs(g);
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
	drop_scrubs(g);
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

int grants_scrub_for(struct grants *g, struct sv host, struct scrub **ret)
{
	struct grant *bound[GRANTS_MAX];
	struct grants_scrub *s = &g->scrubs[g->next_scrub];
	bool has[GRANTS_MAX] = {false};
	struct scrub *scrub;
	unsigned i, n = 0;
	int r;

	*ret = NULL;
	for (i = 0; i < g->n; i++) {
		has[i] = grant_covers(g->v[i], host);
		if (has[i])
			bound[n++] = g->v[i];
	}
	if (n == 0)
		return 0;
	for (i = 0; i < GRANTS_SCRUBS; i++)
		if (g->scrubs[i].scrub && memcmp(g->scrubs[i].has, has, sizeof(has)) == 0) {
			*ret = scrub_ref(g->scrubs[i].scrub);
			return 0;
		}
	r = scrub_from_grants(bound, n, &scrub);
	if (r < 0)
		return r;
	scrub_unref(s->scrub);
	s->scrub = scrub;
	memcpy(s->has, has, sizeof(has));
	g->next_scrub = (g->next_scrub + 1) % GRANTS_SCRUBS;
	*ret = scrub_ref(scrub);
	return 0;
}
