/*
 * graphql.h: reads any text within its bounds; every name that it reports lies in the text.
 */
#include "gate/inference/graphql.h"

#include <stdlib.h>

#include "fuzz.h"

static int check_name(void *ctx, struct sv name)
{
	const struct sv *text = ctx;

	if (name.n == 0 || name.p < text->p || name.p + name.n > text->p + text->n)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv text = sv_n((const char *)bytes, n);
	const char *why = NULL;
	struct graphql g;
	uint32_t i, operations = 0;

	if (graphql_read(&g, text, &why) < 0) {
		if (!why)
			abort();
		return 0;
	}
	for (i = 0; i < g.n_definitions; i++) {
		if (g.d[i].type == GRAPHQL_FRAGMENT)
			continue;
		operations++;
		if (graphql_fields(&g, i, check_name, &text, &why) < 0 && !why)
			abort();
	}
	if (operations == 0)
		abort();
	graphql_done(&g);
	return 0;
}
