#include "gate/inference/output.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/inference/usage.h"

/*
 * What says how long a reply may be, to some server of some dialect, and how many there are to be: which of them a
 * server reads is its secret, so the largest counts, wherever it stands. Gemini takes its names in both spellings.
 */
enum { PLACES = 4 };
static const char *const places[PLACES] = {"", "options", "generationConfig",
					   "generation_config"}; /* "": the body itself */
static const char *const limits[] = {"max_tokens", "max_completion_tokens", "max_new_tokens",  "max_output_tokens",
				     "n_predict",  "num_predict",           "maxOutputTokens", NULL};
/* How long it is to be at least: 0, which clients send, asks for nothing. */
static const char *const floors[] = {"min_tokens", NULL};
static const char *const times[] = {
	"n", "best_of", "num_return_sequences", "n_cmpl", "candidateCount", "candidate_count", NULL};

/* Only the limit that all servers of a dialect read keeps a reply short: one that the server at hand passes over leaves
 * it as long as it is without any. */
static const struct {
	enum endpoint_op op;
	const char *in, *limit; /* NULL: none is read by all */
	const char *prompts[3]; /* lists with a reply for each member */
} members[] = {
	{OP_MESSAGES, "", "max_tokens", {NULL}},
	{OP_CHAT, "", "max_tokens", {NULL}},
	{OP_COMPLETIONS, "", "max_tokens", {"prompt", "prompt_embeds", NULL}},
	{OP_RESPONSES, "", "max_output_tokens", {NULL}},
	{OP_COMPACT, "", NULL, {NULL}},
	{OP_GENERATE, "generationConfig", "maxOutputTokens", {NULL}},
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

static uint32_t find_place(const struct json_scan *s, const char *place, bool *there)
{
	uint32_t of = place[0] ? json_scan_get(s, 0, place) : 0;

	*there = of || !place[0];
	return of;
}

/* Of all places; 0: none is there. */
static int largest(const struct json_scan *s, const char *const *names, uint64_t otherwise, uint64_t *ret,
		   struct ruling *no)
{
	uint32_t of;
	uint64_t n;
	size_t i, k;
	bool there;

	*ret = 0;
	for (i = 0; i < PLACES; i++) {
		of = find_place(s, places[i], &there);
		for (k = 0; there && names[k]; k++) {
			if (number(s, json_scan_get(s, of, names[k]), names[k], otherwise, &n, no) < 0)
				return -1;
			*ret = n > *ret ? n : *ret;
		}
	}
	return 0;
}

/* Does the body have a limit that its server is sure to read? */
static bool is_limited(const struct json_scan *s, const char *place, const char *name)
{
	bool there = false;
	uint32_t of = name ? find_place(s, place, &there) : 0, i = there ? json_scan_get(s, of, name) : 0;

	return i && json_scan_kind(s, i) == SCAN_NUMBER;
}

/* A list of numbers is one prompt, as tokens; of texts or lists each is one. */
static uint64_t prompts(const struct json_scan *s, const char *const *names)
{
	uint64_t n = 0, of;
	uint32_t i, list;
	size_t k;

	for (k = 0; names[k]; k++) {
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
	uint64_t limit, least, replies;
	size_t i;

	*ret = 0;
	for (i = 0; i < ARRAY_LEN(members) && members[i].op != op; i++)
		;
	if (i == ARRAY_LEN(members))
		return 0;
	if (largest(s, limits, OUTPUT_USUAL, &limit, no) < 0 || largest(s, floors, 0, &least, no) < 0 ||
	    largest(s, times, 1, &replies, no) < 0)
		return -1;
	limit = least > limit ? least : limit;
	if (limit < OUTPUT_USUAL && !is_limited(s, members[i].in, members[i].limit))
		limit = OUTPUT_USUAL;
	*ret = product(product(limit, replies ? replies : 1), prompts(s, members[i].prompts));
	return 0;
}
