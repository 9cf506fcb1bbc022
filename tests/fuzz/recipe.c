/*
 * Recipes: the input as a Dockerfile, behind a line "=====" its .dockerignore; what is made must survive its encoding.
 * And the input as an encoding: what decodes must be what encodes to it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"
#include "image/pattern.h"
#include "image/recipe.h"

static void encode_and_back(struct arena *a, const struct recipe *r)
{
	AUTO_BUF x = {0};
	AUTO_BUF y = {0};
	const struct recipe *q;

	buf_init(&x, RECIPE_BYTES);
	buf_init(&y, RECIPE_BYTES);
	if (recipe_encode(r, &x) < 0)
		return;
	if (recipe_decode(a, buf_view(&x), &q) < 0 || recipe_encode(q, &y) < 0 || !sv_eq(buf_view(&x), buf_view(&y)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char mark[] = "\n=====\n", *const args[] = {"A=1", "B=../x y$A", NULL};
	static const char *env[] = {"PATH=/b", "X=${A}", NULL}, *triggers[] = {"COPY $X /b", "RUN <<E\nx\nE", NULL};
	static const struct recipe_image image = {"docker.io/library/x:latest",
						  {env, NULL, NULL, "/w", "u", NULL, triggers}};
	struct sv text = sv_n((const char *)bytes, n), ignore = {"", 0};
	const char *cut = memmem(bytes, n, mark, strlen(mark));
	struct arena *a = arena_new();
	struct recipe_request req = {.name = "Dockerfile",
				     .ignore_name = ".dockerignore",
				     .platform = "linux/amd64",
				     .args = args,
				     .images = &image,
				     .n_images = 1};
	const struct recipe *r;
	struct error err = {0};
	uint64_t work = 0;

	if (cut) {
		ignore = sv_n(cut + strlen(mark), text.n - (size_t)(cut - text.p) - strlen(mark));
		text.n = (size_t)(cut - text.p);
	}
	req.dockerfile = text;
	req.ignore = ignore;
	if (recipe_make(a, &req, &r, &err) == 0) {
		encode_and_back(a, r);
		(void)pattern_ignored((const char *const *)r->ignore, sv_of("a/b.c/d"), &work);
		(void)pattern_may_return((const char *const *)r->ignore, sv_of("a/b.c"), &work);
	}
	if (recipe_decode(a, sv_n((const char *)bytes, n), &r) == 0)
		encode_and_back(a, r);
	arena_free(a);
	return 0;
}
