/*
 * The parser of Dockerfiles, the check of each instruction's form, and the expansion of every word with variables that
 * grow.
 */
#include <stdlib.h>

#include "base/text.h"
#include "conf/dockerfile.h"
#include "conf/expand.h"
#include "fuzz.h"

static const char *get(void *arg, struct sv name)
{
	(void)arg;
	return name.n % 3 == 0 ? NULL : name.n % 3 == 1 ? "a b*c/d.e" : "$X ${Y:-'z'}";
}

static void expand_all(struct arena *a, const struct dockerfile_instruction *i, char escape)
{
	size_t budget = EXPAND_BUDGET, k, n;
	struct expand how = {.arena = a, .escape = escape, .get = get, .budget = &budget};
	struct error err;
	const char *s, **v;

	for (k = 0; i->args[k]; k++) {
		(void)expand_word(&how, sv_of(i->args[k]), &s, &err);
		(void)expand_words(&how, sv_of(i->args[k]), &v, &n, &err);
		(void)dockerfile_heredoc_of(a, i, i->args[k]);
	}
	for (k = 0; k < i->n_heredocs; k++)
		if (!i->heredocs[k].content || !i->heredocs[k].name || !dockerfile_content(a, &i->heredocs[k]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct arena *a = arena_new();
	const struct dockerfile *f;
	struct error err = {0};
	uint32_t last = 0;
	size_t i;

	if (dockerfile_parse(a, "Dockerfile", sv_n((const char *)bytes, n), &f, &err) < 0) {
		if (!err.text[0])
			abort();
		arena_free(a);
		return 0;
	}
	for (i = 0; i < f->n; i++) {
		if (f->v[i].line <= last || f->v[i].last_line < f->v[i].line)
			abort();
		last = f->v[i].last_line;
		(void)dockerfile_check("Dockerfile", &f->v[i], &err);
		expand_all(a, f->v[i].trigger ? f->v[i].trigger : &f->v[i], f->escape);
	}
	arena_free(a);
	return 0;
}
