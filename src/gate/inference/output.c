#include "gate/inference/output.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/inference/usage.h"

/* Gemini takes its names in both spellings. */
static const struct {
	enum endpoint_op op;
	const char *in[2];     /* the object that holds them; NULL: the body itself */
	const char *limits[2];
	const char *times[2]; /* how many replies */
} members[] = {
	{OP_MESSAGES, {NULL}, {"max_tokens"}, {NULL}},
	{OP_CHAT, {NULL}, {"max_tokens", "max_completion_tokens"}, {"n"}},
	{OP_COMPLETIONS, {NULL}, {"max_tokens"}, {"n", "best_of"}},
	{OP_RESPONSES, {NULL}, {"max_output_tokens"}, {NULL}},
	{OP_GENERATE, {"generationConfig", "generation_config"}, {"maxOutputTokens", "max_output_tokens"}, {"candidateCount", "candidate_count"}},
};

/* Instead of a node: 0 is the body itself. */
#define ABSENT UINT32_MAX

/* 0: no number above zero. */
static uint64_t number(const struct json_scan *s, uint32_t i)
{
	char text[SCAN_MAX_NUMBER + 1] = "";
	struct sv t;
	double v;

	if (!i || json_scan_kind(s, i) != SCAN_NUMBER)
		return 0;
	t = json_scan_text(s, i);
	if (t.n >= sizeof(text))
		return USAGE_MAX;
	memcpy(text, t.p, t.n);
	v = strtod(text, NULL);
	return v >= (double)USAGE_MAX ? USAGE_MAX : v >= 1 ? (uint64_t)v : 0;
}

static uint64_t largest(const struct json_scan *s, const uint32_t of[2], const char *const names[2])
{
	uint64_t most = 0, n;
	size_t i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < 2 && names[k]; k++) {
			n = of[i] == ABSENT ? 0 : number(s, json_scan_get(s, of[i], names[k]));
			most = n > most ? n : most;
		}
	return most;
}

uint64_t output_max(const struct json_scan *s, enum endpoint_op op)
{
	uint64_t limit, times;
	uint32_t of[2] = {0, ABSENT};
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(members) && members[i].op != op; i++)
		;
	if (i == ARRAY_LEN(members))
		return 0;
	for (k = 0; k < 2 && members[i].in[k]; k++) {
		of[k] = json_scan_get(s, 0, members[i].in[k]);
		of[k] = of[k] ? of[k] : ABSENT;
	}
	limit = largest(s, of, members[i].limits);
	times = largest(s, of, members[i].times);
	limit = limit ? limit : OUTPUT_USUAL;
	times = times ? times : 1;
	return limit > USAGE_MAX / times ? USAGE_MAX : limit * times;
}
