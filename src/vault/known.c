#include "vault/known.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *name, *variable, *host, *header, *before;
} known[] = {
	{"anthropic", "ANTHROPIC_API_KEY", "api.anthropic.com", "x-api-key", ""},
	{"openai", "OPENAI_API_KEY", "api.openai.com", "authorization", "Bearer "},
	{"gemini", "GEMINI_API_KEY", "generativelanguage.googleapis.com", "x-goog-api-key", ""},
};

static const char **one(struct arena *a, const char *s)
{
	const char **v = arena_array(a, 2, sizeof(*v));

	if (v)
		v[0] = s;
	return v;
}

int credentials_add_known(struct credentials *c)
{
	struct credential *v = arena_array(c->arena, c->n + ARRAY_LEN(known), sizeof(*v));
	uint32_t n = c->n;
	size_t i;

	if (!v)
		return -ENOMEM;
	if (n)
		memcpy(v, c->v, n * sizeof(*v));
	for (i = 0; i < ARRAY_LEN(known); i++) {
		if (credentials_find(c, sv_of(known[i].name)))
			continue;
		v[n++] = (struct credential){
			.name = known[i].name,
			.from = {.kind = SOURCE_ENV, .words = one(c->arena, known[i].variable), .n = 1},
			.hosts = one(c->arena, known[i].host),
			.n_hosts = 1,
			.inject = {.kind = INJECT_HEADER,
				   .name = known[i].header,
				   .before = known[i].before,
				   .after = "",
				   .user = "",
				   .region = "",
				   .service = ""},
			.env = known[i].variable,
			.optional = true,
		};
	}
	if (arena_failed(c->arena))
		return -ENOMEM;
	c->v = v;
	c->n = n;
	return 0;
}
