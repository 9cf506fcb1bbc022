/*
 * The grants that egress takes from the vault: any bytes, no crash; what decodes has what every user of a grant relies
 * on, and encodes to the same bytes again.
 */
#include "vault/grant.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "fuzz.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct grant *g)
{
	const struct inject_form *f = &g->inject;
	const char *const texts[] = {g->name, f->name, f->before, f->after, f->user, f->region, f->service};
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++)
		must(texts[i]);
	must(f->kind <= INJECT_SIGV4 && g->n_hosts && g->parts[PART_VALUE] &&
	     (f->kind != INJECT_SIGV4 || g->parts[PART_KEY_ID]));
	for (i = 0; i < g->n_hosts; i++)
		must(g->hosts[i]);
	for (i = 0; i < GRANT_PARTS; i++) {
		must(g->placeholders[i]);
		if (g->parts[i])
			must(g->placeholders[i][0] && secret_size(g->parts[i]) >= GRANT_VALUE_MIN &&
			     secret_size(g->parts[i]) <= GRANT_VALUE_MAX);
	}
	(void)grant_covers(g, sv_of("api.example.com"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv in = sv_n((const char *)bytes, n);
	char *room;
	struct grant *g;
	struct buf out;

	if (n > GRANT_ENCODED_MAX || grant_decode(in, &g) < 0)
		return 0;
	check(g);
	room = malloc(GRANT_ENCODED_MAX + 1);
	must(room);
	out = (struct buf){.p = room, .cap = GRANT_ENCODED_MAX + 1, .max = GRANT_ENCODED_MAX};
	must(grant_encode(g, &out) == 0 && out.p == room && sv_eq(in, buf_view(&out)));
	buf_done(&out);
	grant_free(g);
	return 0;
}
