#include "task/grants.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "vault/source.h"

static int fetch_one(const struct task_grant *t, const struct credentials *c, struct buf *to, struct error *err)
{
	const struct credential *found = c ? credentials_find(c, sv_of(t->credential)) : NULL;
	struct text_shown shown;
	struct buf value = {0};
	int r;

	if (!found)
		return error_set(err, ERROR_INPUT, "credentials.yaml has no %s any more",
				 text_show(&shown, sv_of(t->credential)));
	buf_init(&value, SOURCE_MAX);
	r = source_fetch(&found->from, &value, err);
	if (r == 0 && memchr(value.p, '\0', value.n))
		r = error_set(err, ERROR_INPUT, "the value of %s holds a NUL byte, which a variable cannot",
			      text_show(&shown, sv_of(t->credential)));
	/* in full size at once: growing would leave copies behind */
	buf_init(to, SOURCE_MAX + 512);
	if (r == 0 && (buf_reserve(to, strlen(t->variable) + value.n + 2) < 0 ||
		       buf_printf(to, "%s=", t->variable) < 0 || buf_sv(to, buf_view(&value)) < 0))
		r = error_set(err, ERROR_SYSTEM, "out of memory");
	source_wipe(&value);
	return r;
}

int grants_fetch(struct grants *g, const struct task_sandbox *s, const struct credentials *c, const char *const **env,
		 struct error *err)
{
	size_t n = 0, i;

	if (s->n_grants == 0)
		return 0;
	if (s->n_grants > GRANTS_MAX)
		return error_set(err, ERROR_INPUT, "a verifier gets at most %d credentials", GRANTS_MAX);
	while (*env && (*env)[n])
		n++;
	g->env = calloc(n + s->n_grants + 1, sizeof(*g->env));
	if (!g->env)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (n)
		memcpy(g->env, *env, n * sizeof(*g->env));
	for (i = 0; i < s->n_grants; i++) {
		g->n = i + 1;
		if (fetch_one(&s->grants[i], c, &g->values[i], err) < 0)
			return -1;
		g->env[n + i] = g->values[i].p;
	}
	*env = g->env;
	return 0;
}

void grants_wipe(struct grants *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		source_wipe(&g->values[i]);
	free(g->env);
	*g = (struct grants){0};
}
