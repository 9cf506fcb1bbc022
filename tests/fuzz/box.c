/*
 * What PID 1 of a container is told of its run: any bytes, no crash; and what decodes is sound and encodes to the same
 * bytes again.
 */
#include "model/box.h"

#include <stdlib.h>

#include "fuzz.h"

static void must_be_sound(const struct box_orders *o)
{
	const struct plan *p = o->plan;
	size_t i;

	if (o->user >= BOX_USERS || p->uid == UINT32_MAX || p->gid == UINT32_MAX || p->cwd[0] != '/')
		abort();
	if (o->user != BOX_USER_IS && (!p->uid || !p->gid))
		abort();
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].target[0] != '/')
			abort();
	for (i = 0; p->executables[i]; i++)
		if (p->executables[i][0] != '/')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv in = sv_n((const char *)bytes, n);
	struct arena *arena = arena_new();
	struct box_orders o;
	AUTO_BUF out = {0};

	if (!arena)
		return 0;
	if (box_get_orders(in, arena, &o) == 0) {
		must_be_sound(&o);
		buf_init(&out, n + 64);
		box_put_orders(&out, &o);
		if (!sv_eq(in, buf_view(&out)))
			abort();
	}
	arena_free(arena);
	return 0;
}
