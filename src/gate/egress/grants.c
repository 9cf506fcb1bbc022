#include "gate/egress/grants.h"

#include <errno.h>

#include "gate/egress/scrub_grants.h"
#include "gate/egress/sigv4.h"
#include "vault/needle.h"
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

static int is_equal(struct sv plain, void *arg)
{
	return secret_equal(arg, plain);
}

/* Are the same values bound to the same hosts? */
static bool is_same(const struct grant *a, const struct grant *b)
{
	unsigned i;

	if (a->n_hosts != b->n_hosts)
		return false;
	for (i = 0; i < a->n_hosts; i++)
		if (strcmp(a->hosts[i], b->hosts[i]) != 0)
			return false;
	for (i = 0; i < GRANT_PARTS; i++)
		if (!a->parts[i] != !b->parts[i] ||
		    (a->parts[i] && secret_use(a->parts[i], is_equal, b->parts[i]) != 1))
			return false;
	return true;
}

static bool is_among(const struct grant *one, struct grant *const *v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (is_same(one, v[i]))
			return true;
	return false;
}

static size_t size_of(const struct grant *one)
{
	size_t n = 0;
	unsigned i;

	for (i = 0; i < GRANT_PARTS; i++)
		n += one->parts[i] ? secret_size(one->parts[i]) : 0;
	return n;
}

static void forget_old(struct grants *g, unsigned i)
{
	grant_free(g->old[i]);
	memmove(g->old + i, g->old + i + 1, (--g->n_old - i) * sizeof(*g->old));
}

/* Keeps what goes out of force; the oldest make room. */
static void retire(struct grants *g, struct grant *one)
{
	size_t bytes = size_of(one);
	unsigned i;

	for (i = 0; i < g->n_old; i++)
		bytes += size_of(g->old[i]);
	while (g->n_old && (g->n_old == GRANTS_OLD || bytes > GRANTS_OLD_BYTES)) {
		bytes -= size_of(g->old[0]);
		forget_old(g, 0);
	}
	g->old[g->n_old++] = one;
}

/* All that was in force, but for what comes again. */
static void retire_all(struct grants *g)
{
	unsigned i;

	for (i = g->n_old; i-- > 0;)
		if (is_among(g->old[i], g->coming, g->n_coming))
			forget_old(g, i);
	for (i = 0; i < g->n; i++)
		if (is_among(g->v[i], g->coming, g->n_coming) || is_among(g->v[i], g->old, g->n_old))
			grant_free(g->v[i]);
		else
			retire(g, g->v[i]);
	g->n = 0;
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
	retire_all(g);
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
	drop(g->old, &g->n_old);
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

bool grants_sign_objects(const struct grants *g, struct sv host)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (g->v[i]->inject.kind == INJECT_SIGV4 && sigv4_is_s3(g->v[i]->inject.service) &&
		    grant_covers(g->v[i], host))
			return true;
	return false;
}

/* Those in force, then the newest of the others, as many as can be looked for at once. How many; has: which. */
static unsigned gather_bound(const struct grants *g, struct sv host, struct grant **bound, bool *has)
{
	unsigned i, n = 0;

	for (i = 0; i < g->n; i++) {
		has[i] = grant_covers(g->v[i], host);
		if (has[i])
			bound[n++] = g->v[i];
	}
	for (i = g->n_old; i-- > 0 && (n + 1) * GRANT_PARTS <= NEEDLE_COUNT;) {
		has[GRANTS_MAX + i] = grant_covers(g->old[i], host);
		if (has[GRANTS_MAX + i])
			bound[n++] = g->old[i];
	}
	return n;
}

int grants_scrub_for(struct grants *g, struct sv host, struct scrub **ret)
{
	struct grant *bound[GRANTS_MAX + GRANTS_OLD];
	struct grants_scrub *s = &g->scrubs[g->next_scrub];
	bool has[GRANTS_MAX + GRANTS_OLD] = {false};
	struct scrub *scrub;
	unsigned i, n = gather_bound(g, host, bound, has);
	int r;

	*ret = NULL;
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
