/*
 * The policy parser and all that follows it: the input is the request, and behind a line "=====" the ceiling. What
 * loads must survive the encoding.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "fuzz.h"
#include "policy/policy_codec.h"
#include "policy/policy_compile.h"

struct texts {
	struct sv request, ceiling;
};

static int get(void *ctx, const struct policy_want *want, struct arena *a, struct policy_text *ret, struct error *err)
{
	const struct texts *t = ctx;
	struct sv text = want->kind == POLICY_WANT_CEILING ? t->ceiling : t->request;

	(void)a;
	if (want->kind == POLICY_WANT_CEILING && !text.p)
		return 1;
	/* Whatever it extends is another name for the same text: that is how cycles and long chains come up. */
	ret->name = ret->id = want->name ? want->name : "ceiling";
	return buf_sv(&ret->bytes, text) < 0 ? error_set(err, ERROR_INPUT, "too long") : 0;
}

static void encode_and_back(const struct policy *p)
{
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};
	struct policy *q;

	buf_init(&a, POLICY_CODEC_MAX);
	buf_init(&b, POLICY_CODEC_MAX);
	if (policy_encode(p, &a) < 0)
		return;
	if (policy_decode(buf_view(&a), &q) < 0 || policy_encode(q, &b) < 0 || !sv_eq(buf_view(&a), buf_view(&b)))
		abort();
	policy_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char mark[] = "\n=====\n";
	struct texts t = {.request = sv_n((const char *)bytes, n)};
	const char *cut = memmem(bytes, n, mark, strlen(mark));
	struct policy_source source = {.name = "p"};
	struct policy_request req = {.sources = &source, .n_sources = 1, .home = "/home/u", .workdir = "/home/u/w"};
	struct policy_fetch fetch = {get, &t};
	struct policy *p;
	struct error err;

	if (cut) {
		t.request.n = (size_t)(cut - t.request.p);
		t.ceiling = sv_n(cut + strlen(mark), n - t.request.n - strlen(mark));
	}
	if (policy_compile(&req, &fetch, &p, &err) < 0) {
		if (err.text[0] == '\0')
			abort();
		return 0;
	}
	encode_and_back(p);
	policy_free(p);
	return 0;
}
