#include "gate/egress/scrub_grants.h"

#include <errno.h>
#include <stdlib.h>

struct gathering {
	struct grant *const *grants;
	size_t n, at; /* at: grant * GRANT_PARTS + part */
	struct scrub_pair *pairs;
	size_t n_pairs;
	struct scrub *scrub;
};

static int gather(struct gathering *g);

static int with_part(struct sv plain, void *arg)
{
	struct gathering *g = arg;
	const struct grant *grant = g->grants[g->at / GRANT_PARTS];

	g->pairs[g->n_pairs++] = (struct scrub_pair){plain, sv_of(grant->placeholders[g->at % GRANT_PARTS])};
	g->at++;
	return gather(g);
}

/* A plaintext is there only while secret_use() runs: the next one is opened inside it, and the innermost call has all
 * of them. */
static int gather(struct gathering *g)
{
	for (; g->at < g->n * GRANT_PARTS; g->at++) {
		struct secret *part = g->grants[g->at / GRANT_PARTS]->parts[g->at % GRANT_PARTS];

		if (part)
			return secret_use(part, with_part, g);
	}
	return scrub_new(g->pairs, g->n_pairs, &g->scrub);
}

int scrub_from_grants(struct grant *const *grants, size_t n, struct scrub **ret)
{
	struct gathering g = {.grants = grants, .n = n, .pairs = calloc(n * GRANT_PARTS + 1, sizeof(*g.pairs))};
	int r = g.pairs ? gather(&g) : -ENOMEM;

	free(g.pairs);
	if (r == 0)
		*ret = g.scrub;
	return r;
}
