/*
 * policy_memory: compiling policies from texts in memory, for tests. The ceiling is the text named "ceiling"; any other
 * text is found under its own name, whether it was asked for as a profile or as a file.
 */
#ifndef CORDON_TESTS_POLICY_MEMORY_H
#define CORDON_TESTS_POLICY_MEMORY_H

#include "base/buf.h"
#include "policy/policy_compile.h"

struct memory_text {
	const char *name;
	const char *text;
};

struct memory {
	const struct memory_text *texts;
	size_t n;
};

static inline int memory_get(void *ctx, const struct policy_want *want, struct arena *a, struct policy_text *ret,
			     struct error *err)
{
	const struct memory *m = ctx;
	const char *name = want->kind == POLICY_WANT_CEILING ? "ceiling" : want->name;
	size_t i;

	(void)a;
	for (i = 0; i < m->n; i++)
		if (strcmp(m->texts[i].name, name) == 0) {
			ret->name = ret->id = m->texts[i].name;
			return buf_str(&ret->bytes, m->texts[i].text) < 0 ? -1 : 0;
		}
	return want->kind == POLICY_WANT_CEILING ? 1 : error_set(err, ERROR_INPUT, "no text %s", name);
}

/* Compiles texts[0]; home is /home/u, the work folder /home/u/w. */
static inline struct policy *memory_compile(const struct memory_text *texts, size_t n, struct error *err)
{
	struct memory m = {texts, n};
	struct policy_fetch fetch = {memory_get, &m};
	struct policy_source source = {.name = texts[0].name, .is_profile = false};
	struct policy_request req = {.sources = &source, .n_sources = 1, .home = "/home/u", .workdir = "/home/u/w"};
	struct policy *p = NULL;

	err->text[0] = '\0';
	return policy_compile(&req, &fetch, &p, err) < 0 ? NULL : p;
}

/* One policy, maybe below a ceiling; what stands after "version: 1". */
static inline struct policy *memory_policy(const char *request, const char *ceiling, struct error *err)
{
	static char texts[2][65536];
	struct memory_text v[2] = {{"p.yaml", texts[0]}, {"ceiling", texts[1]}};

	(void)snprintf(texts[0], sizeof(texts[0]), "version: 1\n%s\n", request);
	(void)snprintf(texts[1], sizeof(texts[1]), "version: 1\n%s\n", ceiling ? ceiling : "");
	return memory_compile(v, ceiling ? 2 : 1, err);
}

/* The error that a policy gives, or "" where it gives none. */
static inline const char *memory_error(const char *request, const char *ceiling)
{
	static struct error err;
	struct policy *p = memory_policy(request, ceiling, &err);

	if (p)
		err.text[0] = '\0';
	policy_free(p);
	return err.text;
}

#define CHECK_HAS(got, want)                                                                                           \
	do {                                                                                                           \
		const char *got_ = (got), *want_ = (want);                                                             \
		if (!strstr(got_, want_)) {                                                                            \
			printf("# %s:%d: got \"%s\", want \"%s\" in it\n", __FILE__, __LINE__, got_, want_);           \
			check_failures++;                                                                              \
		}                                                                                                      \
	} while (0)

#endif
