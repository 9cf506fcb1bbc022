/*
 * judge.h: a body that is accepted is accepted again, and unchanged, by the next judge; jansson reads its model as the
 * one that was judged. The first byte chooses the endpoint, the rest is the body.
 */
#include "gate/inference/judge.h"

#include <jansson.h>
#include <stdlib.h>

#include "fuzz.h"

static struct pol_str models[] = {{.s = "good-*"}};
static struct provider providers[] = {
	{.name = "a",
	 .kind = {PROVIDER_ANTHROPIC, true, {0}},
	 .url = {.s = "https://a.test"},
	 .models = {models, 1, true}},
	{.name = "o",
	 .kind = {PROVIDER_OPENAI, true, {0}},
	 .url = {.s = "https://o.test/v1"},
	 .models = {models, 1, true}},
	{.name = "g",
	 .kind = {PROVIDER_GEMINI, true, {0}},
	 .url = {.s = "https://g.test"},
	 .models = {models, 1, true}},
};
static const struct pol_inference policy = {providers, 3, NULL, 0};

static const struct {
	int provider;
	const char *target;
} endpoints[] = {
	{0, "/v1/messages"},
	{1, "/v1/chat/completions"},
	{1, "/v1/responses"},
	{2, "/v1beta/models/good-1:generateContent"},
	{2, "/v1beta/models/good-1:batchEmbedContents"},
};

static int judge(size_t endpoint, struct buf *body, struct judged *ret)
{
	struct http_request req = {
		.method = sv_of("POST"), .target = sv_of(endpoints[endpoint].target), .body = true, .length = -1};
	struct ruling no = {0};

	if (judge_head(&policy, &providers[endpoints[endpoint].provider], &req, ret, &no) < 0)
		abort();
	if (judge_body(&policy, &req, body, ret, &no) == 0)
		return 0;
	if (no.status == 0 || !no.detail[0] || !no.hint[0])
		abort();
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	AUTO_BUF body = {0}, again = {0};
	struct judged a, b;
	json_t *root;
	size_t endpoint;

	if (n < 1)
		return 0;
	endpoint = bytes[0] % (sizeof(endpoints) / sizeof(endpoints[0]));
	buf_init(&body, SCAN_MAX_BYTES);
	buf_init(&again, SCAN_MAX_BYTES);
	(void)buf_add(&body, bytes + 1, n - 1);
	if (judge(endpoint, &body, &a) < 0)
		return 0;
	(void)buf_sv(&again, buf_view(&body));
	if (judge(endpoint, &again, &b) < 0 || !sv_eq(buf_view(&body), buf_view(&again)))
		abort();
	root = json_loadb(body.p, body.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	if (!root || !sv_starts(sv_of(a.model), "good-"))
		abort();
	if (endpoints[endpoint].provider != 2 &&
	    strcmp(json_string_value(json_object_get(root, "model")), a.model) != 0)
		abort();
	json_decref(root);
	return 0;
}
