#include "gate/inference/output.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/inference/usage.h"

/* Names of several servers that speak one dialect: which of them a server reads is its secret, so all of them count.
 * Gemini takes its names in both spellings. */
enum { NAMES = 6 };

static const struct {
	enum endpoint_op op;
	const char *in[2]; /* the object that holds them; NULL: the body itself */
	const char *limits[NAMES];
	const char *times[NAMES];   /* how many replies */
	const char *prompts[NAMES]; /* lists with a reply for each member */
} members[] = {
	{OP_MESSAGES, {NULL}, {"max_tokens"}, {"n"}, {NULL}},
	{OP_CHAT,
	 {NULL},
	 {"max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict"},
	 {"n", "best_of", "num_return_sequences", "n_cmpl"},
	 {NULL}},
	{OP_COMPLETIONS,
	 {NULL},
	 {"max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict"},
	 {"n", "best_of", "num_return_sequences", "n_cmpl"},
	 {"prompt", "prompt_embeds"}},
	{OP_RESPONSES, {NULL}, {"max_output_tokens"}, {"n"}, {NULL}},
	{OP_GENERATE,
	 {"generationConfig", "generation_config"},
	 {"maxOutputTokens", "max_output_tokens"},
	 {"candidateCount", "candidate_count"},
	 {NULL}},
};

static uint64_t product(uint64_t a, uint64_t b)
{
	return a > USAGE_MAX / b ? USAGE_MAX : a * b;
}

/* 0: not there, or null. What is there but no number above zero is `otherwise`: to some servers -1 is "as many as you
 * like". Text that only some servers read as a number is a no. */
static int number(const struct json_scan *s, uint32_t i, const char *name, uint64_t otherwise, uint64_t *ret,
		  struct ruling *no)
{
	char text[SCAN_MAX_NUMBER + 1] = "";
	struct sv t;
	double v;

	*ret = 0;
	if (!i || json_scan_kind(s, i) == SCAN_NULL)
		return 0;
	if (json_scan_kind(s, i) != SCAN_NUMBER)
		return ruling_set(no, RULING_MALFORMED, "write it as a number", "%s is no number", name);
	t = json_scan_text(s, i);
	*ret = USAGE_MAX;
	if (t.n >= sizeof(text))
		return 0;
	memcpy(text, t.p, t.n);
	v = strtod(text, NULL);
	if (v < (double)USAGE_MAX)
		*ret = v >= 1 ? (uint64_t)v : otherwise;
	return 0;
}

/* `otherwise` where none is there. */
static int largest(const struct json_scan *s, uint32_t of, const char *const *names, uint64_t otherwise, uint64_t *io,
		   struct ruling *no)
{
	uint64_t n;
	size_t k;

	for (k = 0; k < NAMES && names[k]; k++) {
		if (number(s, json_scan_get(s, of, names[k]), names[k], otherwise, &n, no) < 0)
			return -1;
		*io = n > *io ? n : *io;
	}
	return 0;
}

/* A list of numbers is one prompt, as tokens; of texts or lists each is one. */
static uint64_t prompts(const struct json_scan *s, const char *const *names)
{
	uint64_t n = 0, of;
	uint32_t i, list;
	size_t k;

	for (k = 0; k < NAMES && names[k]; k++) {
		list = json_scan_get(s, 0, names[k]);
		if (!list || json_scan_kind(s, list) != SCAN_ARRAY)
			continue;
		for (of = 0, i = json_scan_first(s, list); i; i = json_scan_after(s, list, i))
			of += json_scan_kind(s, i) != SCAN_NUMBER;
		n += of;
	}
	return n ? n : 1;
}

int output_max(const struct json_scan *s, enum endpoint_op op, uint64_t *ret, struct ruling *no)
{
	uint64_t limit = 0, times = 0;
	uint32_t of;
	size_t i, k;

	*ret = 0;
	for (i = 0; i < ARRAY_LEN(members) && members[i].op != op; i++)
		;
	if (i == ARRAY_LEN(members))
		return 0;
	for (k = 0; k < 2; k++) {
		of = members[i].in[k] ? json_scan_get(s, 0, members[i].in[k]) : 0;
		if (members[i].in[k] && !of)
			continue;
		if (largest(s, of, members[i].limits, OUTPUT_USUAL, &limit, no) < 0 ||
		    largest(s, of, members[i].times, 1, &times, no) < 0)
			return -1;
	}
	*ret = product(product(limit ? limit : OUTPUT_USUAL, times ? times : 1), prompts(s, members[i].prompts));
	return 0;
}
