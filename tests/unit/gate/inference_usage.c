#include "gate/inference/usage.h"
#include "gate/inference/usage_strip.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "check.h"

struct reply {
	enum provider_kind kind;
	bool sse;
	const char *text;
	struct usage_tokens want;
};

/* One that does not say what it used, or is cut before. */
struct ending {
	struct reply reply;
	uint64_t may;
	bool cut;
};

#define START                                                                                                          \
	"event: message_start\ndata: "                                                                                 \
	"{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":25,\"cache_read_input_"     \
	"tokens\":7,\"cache_creation_input_tokens\":3,\"output_tokens\":1}}}\n\n"
#define DELTA                                                                                                          \
	"event: content_block_delta\ndata: "                                                                           \
	"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n"
#define CHUNK                                                                                                          \
	"data: "                                                                                                       \
	"{\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\n\n"
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

static const struct reply replies[] = {
	{PROVIDER_ANTHROPIC,
	 false,
	 "{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"usage\":{\"input_tokens\":12,\"output_"
	 "tokens\":34,\"cache_read_input_tokens\":5,\"cache_creation_input_tokens\":6,\"server_tool_use\":{\"output_"
	 "tokens\":99}}}",
	 {12, 34, 5, 6, 0}},
	{PROVIDER_ANTHROPIC,
	 true,
	 START DELTA "event: message_delta\ndata: "
		     "{\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":15}}\n\nevent: "
		     "message_stop\ndata: {}\n\n",
	 {25, 15, 7, 3, 0}},
	{PROVIDER_ANTHROPIC,
	 true,
	 "data:{\"usage\":\r\ndata:{\"output_tokens\":\r\ndata: 8}}\r\n\r\n",
	 {0, 8, 0, 0, 0}},
	{PROVIDER_ANTHROPIC,
	 true,
	 "data: {\"usage\":{\"output_tokens\":8}}\r\rdata: {\"usage\":{\"output_tokens\":9}}\r\r",
	 {0, 9, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 false,
	 "{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":20,"
	 "\"total_tokens\":30,\"completion_tokens_details\":{\"completion_tokens\":77,\"reasoning_tokens\":5}}}",
	 {10, 20, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 false,
	 "{\"object\":\"list\",\"data\":[{\"embedding\":[0.1,-0.2]}],\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}"
	 "}",
	 {8, 0, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 false,
	 "{\"object\":\"response\",\"usage\":{\"input_tokens\":36,\"output_tokens\":87}}",
	 {36, 87, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 true,
	 CHUNK CHUNK
	 "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":12}}\n\ndata: [DONE]\n\n",
	 {9, 12, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 true,
	 "event: response.completed\ndata: "
	 "{\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[{\"usage\":{\"output_tokens\":1000}}]"
	 ",\"usage\":{\"input_tokens\":4,\"output_tokens\":6}}}\n\n",
	 {4, 6, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 false,
	 "{\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":5,"
	 "\"thoughtsTokenCount\":100,\"totalTokenCount\":108}}",
	 {3, 105, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 false,
	 "{\"usageMetadata\":{\"promptTokenCount\":3,\"totalTokenCount\":108}}",
	 {3, 105, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 false,
	 "{\"usageMetadata\":{\"totalTokenCount\":108,\"promptTokenCount\":3,\"toolUsePromptTokenCount\":5,"
	 "\"candidatesTokenCount\":7}}",
	 {8, 100, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 true,
	 "data: {\"usageMetadata\":{\"promptTokenCount\":3,\"totalTokenCount\":3}}\n\ndata: "
	 "{\"usageMetadata\":{\"promptTokenCount\":3,\"totalTokenCount\":18}}\n\n",
	 {3, 15, 0, 0, 0}},
	{PROVIDER_OPENAI, false, "{\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}}", {8, 0, 0, 0, 0}},
	{PROVIDER_OPENAI, false, "{\"usage\":{\"prompt_tokens\":8,\"total_tokens\":20}}", {8, 12, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 false,
	 "[{\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":5}},\n{\"usageMetadata\":{"
	 "\"promptTokenCount\":3,\"candidatesTokenCount\":9}}]",
	 {3, 9, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 true,
	 "data: {\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":5}}\n\ndata: "
	 "{\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":15}}\n\n",
	 {3, 15, 0, 0, 0}},
	/* spelled with escapes, with blanks */
	{PROVIDER_OPENAI, false, "{ \"us\\u0061ge\" : { \"completion\\u005ftokens\" : 7 } }", {0, 7, 0, 0, 0}},
	/* text of a model is no usage */
	{PROVIDER_OPENAI,
	 false,
	 "{\"choices\":[{\"message\":{\"content\":\"\\\"usage\\\":{\\\"completion_tokens\\\":5}\"}}]}",
	 {0, 0, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 false,
	 "{\"choices\":[{\"usage\":{\"completion_tokens\":5}}],\"x\":{\"usage\":{\"completion_tokens\":5}},\"usage\":[{"
	 "\"completion_tokens\":5}]}",
	 {0, 0, 0, 0, 0}},
	{PROVIDER_ANTHROPIC,
	 true,
	 "data: {\"delta\":{\"text\":\"\\n\\ndata: {\\\"usage\\\":{\\\"output_tokens\\\":500}}\"}}\n\ndata: "
	 "{\"usage\":{\"output_tokens\":2}}\n\n",
	 {0, 2, 0, 0, 0}},
	{PROVIDER_ANTHROPIC,
	 true,
	 ": data: {\"usage\":{\"output_tokens\":500}}\nxdata: {\"usage\":{\"output_tokens\":500}}\n\ndata: "
	 "{\"usage\":{\"output_tokens\":2}}\n\n",
	 {0, 2, 0, 0, 0}},
	/* numbers of a malicious upstream */
	{PROVIDER_OPENAI,
	 false,
	 "{\"usage\":{\"completion_tokens\":-5,\"prompt_tokens\":99999999999999999999999999999999}}",
	 {USAGE_MAX, 0, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 false,
	 "{\"usage\":{\"completion_tokens\":9.99,\"prompt_tokens\":1e3}}",
	 {USAGE_MAX, 9, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 false,
	 "{\"usage\":{\"completion_tokens\":50,\"completion_tokens\":3,\"completion_tokens\":\"70\",\"prompt_tokens\":"
	 "null}}",
	 {0, 50, 0, 0, 0}},
	{PROVIDER_OPENAI,
	 true,
	 "data: {\"usage\":{\"completion_tokens\":50}}\n\ndata: {\"usage\":{\"completion_tokens\":4}}\n\n",
	 {0, 50, 0, 0, 0}},
	{PROVIDER_GEMINI,
	 false,
	 "{\"usageMetadata\":{\"candidatesTokenCount\":18446744073709551615,\"thoughtsTokenCount\":"
	 "18446744073709551615}}",
	 {0, USAGE_MAX, 0, 0, 0}},
	{PROVIDER_OPENAI, false, "]]]}}}{\"usage\":{\"completion_tokens\":4}}", {0, 4, 0, 0, 0}},
	/* an event that breaks off does not spoil the next */
	{PROVIDER_OPENAI,
	 true,
	 "data: {\"a\":{\"b\":\"\n\ndata: {\"usage\":{\"completion_tokens\":4}}\n\n",
	 {0, 4, 0, 0, 0}},
	{PROVIDER_OPENAI, false, "{\"error\":{\"message\":\"no\"}}", {0, 0, 0, 0, 0}},
	{PROVIDER_OPENAI, false, "", {0, 0, 0, 0, 0}},
};

static const struct ending endings[] = {
	/* without a word on usage: each event is a token, or several; a body counts by its size */
	{{PROVIDER_OPENAI, true, CHUNK CHUNK CHUNK, {0, 3, 0, 0, 0}}, 9, false},
	{{PROVIDER_OPENAI,
	  true,
	  CHUNK "data: " LONG "\n\n" CHUNK "data: " LONG,
	  {0, 2 + 2 * (1 + (6 + 800 - 512) / 4), 0, 0, 0}},
	 9,
	 false},
	{{PROVIDER_OPENAI, true, "data: {}\ndata: " LONG "\n\n", {0, 1 + (8 + 6 + 800 - 512) / 4, 0, 0, 0}}, 9, false},
	{{PROVIDER_OPENAI, true, "x: " LONG "\n\n" CHUNK, {0, 1, 0, 0, 0}}, 9, false},
	{{PROVIDER_OPENAI, false, "{\"a\":\"" LONG "\"}", {0, 202, 0, 0, 0}}, 9, false},
	{{PROVIDER_GEMINI,
	  false,
	  "{\"promptFeedback\":{},\"usageMetadata\":{\"promptTokenCount\":8}}",
	  {8, 0, 0, 0, 0}},
	 9,
	 false},
	/* replies that have no tokens, whole and cut */
	{{PROVIDER_GEMINI, false, "{\"embedding\":{\"values\":[1,2]}}", {0, 0, 0, 0, 0}}, 0, false},
	{{PROVIDER_GEMINI, false, "{\"embedding\":{\"val", {0, 0, 0, 0, 0}}, 0, true},
	/* cut before the last word: all that might have come */
	{{PROVIDER_ANTHROPIC, true, START DELTA DELTA DELTA, {25, 4, 7, 3, 46}}, 50, true},
	{{PROVIDER_ANTHROPIC, true, START DELTA DELTA DELTA, {25, 4, 7, 3, 0}}, 2, true},
	{{PROVIDER_OPENAI,
	  false,
	  "{\"choices\":[{\"message\":{\"content\":\"all the "
	  "answer\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":12",
	  {9, 25, 0, 0, 4071}},
	 4096,
	 true},
	{{PROVIDER_OPENAI, false, "{\"a\":\"" LONG, {0, 201, 0, 0, 0}}, 9, true},
	{{PROVIDER_OPENAI, false, "", {0, 0, 0, 0, 4096}}, 4096, true},
	/* ... and after it */
	{{PROVIDER_OPENAI, false, "{\"usage\":{\"completion_tokens\":12}", {0, 12, 0, 0, 0}}, 4096, true},
};

/* A stream says that it is complete by an event, and by nothing else. */
static const struct ending streams[] = {
	{{PROVIDER_OPENAI,
	  true,
	  CHUNK "data: {\"usage\":{\"completion_tokens\":12}}\n\ndata: [DONE]\n\n",
	  {0, 12, 0, 0, 0}},
	 4096,
	 true},
	{{PROVIDER_OPENAI, true, CHUNK "data:[DONE]\r\n\r\n", {0, 2, 0, 0, 0}}, 4096, true},
	{{PROVIDER_OPENAI,
	  true,
	  CHUNK CHUNK "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
	  {0, 3, 0, 0, 0}},
	 4096,
	 true},
	{{PROVIDER_OPENAI,
	  true,
	  "data: {\"type\":\"response.incomplete\",\"response\":{\"usage\":{\"output_tokens\":6}}}\n\n",
	  {0, 6, 0, 0, 0}},
	 4096,
	 true},
	{{PROVIDER_ANTHROPIC,
	  true,
	  START DELTA "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\ndata: {\"type\" : "
		      "\"message_stop\"}\n\n",
	  {25, 15, 7, 3, 0}},
	 4096,
	 true},
	{{PROVIDER_ANTHROPIC, true, START DELTA "data: {\"type\":\"message_stop\"}\n\n", {25, 3, 7, 3, 0}}, 4096, true},
	/* numbers on the way, as servers give them that were asked to */
	{{PROVIDER_OPENAI, true, "data: {\"choices\":[],\"usage\":{\"completion_tokens\":1}}\n\n", {0, 1, 0, 0, 4095}},
	 4096,
	 true},
	{{PROVIDER_ANTHROPIC,
	  true,
	  START "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\n",
	  {25, 15, 7, 3, 4081}},
	 4096,
	 true},
	/* half of the event that ends it: its number may come yet */
	{{PROVIDER_OPENAI, true, CHUNK "data: [DONE]\n", {0, 2, 0, 0, 4094}}, 4096, true},
	{{PROVIDER_OPENAI, true, CHUNK "data: {\"type\":\"response.completed\",\"response\":{\"us", {0, 2, 0, 0, 4094}},
	 4096,
	 true},
	/* what only looks like it */
	{{PROVIDER_OPENAI,
	  true,
	  "data: {\"choices\":[{\"delta\":{\"content\":\"\\n\\ndata: [DONE]\\n\\n\"}}]}\n\n",
	  {0, 1, 0, 0, 4095}},
	 4096,
	 true},
	{{PROVIDER_OPENAI,
	  true,
	  "data: [DONE]x\n\ndata: x[DONE]\n\ndata: [DON\n\n: [DONE]\n\nevent: [DONE]\n\n",
	  {0, 3, 0, 0, 4093}},
	 4096,
	 true},
	{{PROVIDER_OPENAI,
	  true,
	  "data: {\"x\":{\"type\":\"response.completed\"},\"y\":\"type\",\"z\":\"response.completed\"}\n\n",
	  {0, 1, 0, 0, 4095}},
	 4096,
	 true},
	{{PROVIDER_OPENAI,
	  true,
	  "data: [{\"type\":\"response.completed\"}]\n\ndata: {\"response.completed\":\"type\"}\n\n",
	  {0, 2, 0, 0, 4094}},
	 4096,
	 true},
	{{PROVIDER_ANTHROPIC,
	  true,
	  "data: {\"delta\":{\"type\":\"message_stop\"}}\n\ndata: [DONE]\n\n",
	  {0, 2, 0, 0, 4094}},
	 4096,
	 true},
};

/* Each chunk has what was written so far: the last one that comes counts, and only an end makes it the last. */
static const struct ending gemini[] = {
#define FIRST "{\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":5}}"
#define SECOND "{\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":15,\"thoughtsTokenCount\":2}}"
	{{PROVIDER_GEMINI, true, "data: " FIRST "\n\n", {3, 5, 0, 0, 95}}, 100, true},
	{{PROVIDER_GEMINI, true, "data: " FIRST "\n\ndata: " SECOND "\n\n", {3, 17, 0, 0, 83}}, 100, true},
	{{PROVIDER_GEMINI, true, "data: " FIRST "\n\ndata: " SECOND "\n\n", {3, 17, 0, 0, 0}}, 100, false},
	{{PROVIDER_GEMINI, true, "data: " SECOND "\n\ndata: " FIRST "\n\n", {3, 17, 0, 0, 0}}, 100, false},
	{{PROVIDER_GEMINI, false, "[" FIRST ",", {3, 16, 0, 0, 84}}, 100, true},
	{{PROVIDER_GEMINI, false, "[" FIRST ",\n" SECOND "]", {3, 17, 0, 0, 0}}, 100, false},
	{{PROVIDER_GEMINI, false, FIRST, {3, 5, 0, 0, 0}}, 100, true},
};

static bool same(const struct usage_tokens *a, const struct usage_tokens *b)
{
	return a->input == b->input && a->output == b->output && a->cut == b->cut && a->cache_read == b->cache_read &&
	       a->cache_write == b->cache_write;
}

/* In pieces of each size. */
static void check_reply(const struct reply *r, uint64_t may, bool whole)
{
	struct sv text = sv_of(r->text);
	size_t step, at;

	for (step = 1; step <= text.n + 1; step++) {
		struct usage u;
		struct usage_tokens got, before = {0};

		usage_init(&u, r->kind, r->sse);
		for (at = 0; at < text.n; at += step) {
			usage_feed(&u, sv_n(text.p + at, text.n - at < step ? text.n - at : step));
			usage_now(&u, &got);
			CHECK(got.input >= before.input && got.output >= before.output);
			before = got;
		}
		usage_end(&u, may, whole, &got);
		if (!same(&got, &r->want)) {
			printf("# %s, pieces of %zu: %" PRIu64 " in, %" PRIu64 " out, %" PRIu64 " cut\n", r->text, step,
			       got.input, got.output, got.cut);
			CHECK(false);
			return;
		}
	}
}

static void usage_is_read_however_the_reply_is_split(void)
{
	size_t i;

	for (i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
		check_reply(&replies[i], 0, true);
}

static void a_reply_that_does_not_say_what_it_used_counts_all_the_same(void)
{
	size_t i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		check_reply(&endings[i].reply, endings[i].may, !endings[i].cut);
}

static void a_stream_is_complete_when_its_last_event_came_and_not_by_a_number_before(void)
{
	size_t i;

	for (i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		check_reply(&streams[i].reply, streams[i].may, !streams[i].cut);
}

static void the_first_number_of_gemini_is_not_its_last(void)
{
	size_t i;

	for (i = 0; i < sizeof(gemini) / sizeof(gemini[0]); i++)
		check_reply(&gemini[i].reply, gemini[i].may, !gemini[i].cut);
}

static void nesting_without_end_is_harmless(void)
{
	static const char tail[] = "\"usage\":{\"completion_tokens\":5}";
	struct usage_tokens got;
	struct usage u;
	int i;

	usage_init(&u, PROVIDER_OPENAI, false);
	for (i = 0; i < 100000; i++)
		usage_feed(&u, sv_of("{\"response\":["));
	usage_feed(&u, sv_of(tail));
	usage_end(&u, 0, true, &got);
	CHECK(got.output == 0);
}

#define ALONE "{\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":12}}"
#define WORD "{\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}"

/* In two pieces, and the last byte of what passes comes no later than it can be known. */
static void strip(const char *in, size_t split, const char *want)
{
	struct sv all = sv_of(in);
	struct usage_strip s;
	AUTO_BUF out = {0};

	buf_init(&out, 1 << 20);
	usage_strip_init(&s);
	CHECK(usage_strip_feed(&s, sv_n(all.p, split), &out) == 0);
	CHECK(usage_strip_feed(&s, sv_n(all.p + split, all.n - split), &out) == 0);
	CHECK(s.held.n <= USAGE_STRIP_MAX + 16);
	CHECK(usage_strip_end(&s, &out) == 0 && s.held.n == 0);
	if (!sv_is(buf_view(&out), want)) {
		printf("# split at %zu: %s\n# got: %s\n", split, in, out.p ? out.p : "");
		CHECK(false);
	}
	usage_strip_done(&s);
}

static void the_event_with_the_usage_is_taken_out_wherever_it_is_split(void)
{
	static const struct {
		const char *in, *out;
	} texts[] = {
		{"data: " WORD "\n\ndata: " ALONE "\n\ndata: [DONE]\n\n", "data: " WORD "\n\ndata: [DONE]\n\n"},
		{"data:" WORD "\r\n\r\ndata:" ALONE "\r\n\r\ndata:[DONE]\r\n\r\n",
		 "data:" WORD "\r\n\r\ndata:[DONE]\r\n\r\n"},
		{"data: " WORD "\r\rdata: " ALONE "\r\rdata: [DONE]\r\r", "data: " WORD "\r\rdata: [DONE]\r\r"},
		{"data: " ALONE "\n\r\ndata: [DONE]\n\n", "data: [DONE]\n\n"},
		{": wait\n\nid: 1\nevent: x\ndata: " ALONE "\nretry: 3\n\ndata: [DONE]\n\n",
		 ": wait\n\ndata: [DONE]\n\n"},
		{": wait\r\ndata: " ALONE "\r\n\r\n\r\ndata: [DONE]\r\n\r\n", ": wait\r\n\r\ndata: [DONE]\r\n\r\n"},
		{"data: { \"usage\" : { } , \"choices\" : [ ] }\n\ndata: [DONE]", "data: [DONE]"},
		/* the stream ends with it */
		{"data: " WORD "\n\ndata: " ALONE "\n\n", "data: " WORD "\n\n"},
		{"data: " WORD "\n\ndata: " ALONE "\n", "data: " WORD "\n\n"},
		{"data: " WORD "\n\ndata: " ALONE, "data: " WORD "\n\n"},
	};
	size_t i, split;

	for (i = 0; i < ARRAY_LEN(texts); i++)
		for (split = 0; split <= strlen(texts[i].in); split++)
			strip(texts[i].in, split, texts[i].out);
}

static void all_other_events_pass_byte_for_byte(void)
{
	static const char *const texts[] = {
		"data: {\"choices\":[]}\n\n",
		"data: {\"choices\":[],\"usage\":null,\"prompt_filter_results\":[]}\r\n\r\n",
		"data: {\"choices\":[{}],\"usage\":{\"prompt_tokens\":1}}\n\n",
		"data: {\"choices\":null,\"usage\":{}}\n\n",
		"data: {\"x\":{\"choices\":[],\"usage\":{}}}\n\n",
		"data: [" ALONE "]\n\n",
		"data: \"" "choices usage" "\"\n\n",
		"data: " ALONE "x\n\n",
		"data: " ALONE "\ndata: x\n\n",
		"data: {\"choices\":[],\ndata: \"usage\":{}}\n\n",
		"xdata: " ALONE "\n\n",
		"data\ndata: " ALONE "\n\n",
		"data: x\rdata: " ALONE "\r\r\n\n\n\r",
		": " ALONE "\n\n",
		"id: 1\n\nevent: e\n\n\n\n: c",
		"data: {\"choices\":[],\"usage\":{}",
		"",
	};
	size_t i, split;

	for (i = 0; i < ARRAY_LEN(texts); i++)
		for (split = 0; split <= strlen(texts[i]); split++)
			strip(texts[i], split, texts[i]);
}

static void an_event_passes_as_soon_as_it_is_known_and_no_more_is_held(void)
{
	static const char known[] = "data: " WORD "\n";
	char large[3 * USAGE_STRIP_MAX];
	struct usage_strip s;
	AUTO_BUF out = {0};
	size_t n = (size_t)snprintf(large, sizeof(large), "data: {\"choices\":[],\"usage\":{\"x\":\"");

	buf_init(&out, 1 << 20);
	usage_strip_init(&s);
	CHECK(usage_strip_feed(&s, sv_of(known), &out) == 0);
	CHECK(sv_is(buf_view(&out), known) && s.held.n == 0);
	CHECK(usage_strip_feed(&s, sv_of("\n: c"), &out) == 0 && s.held.n == 0);
	CHECK(usage_strip_feed(&s, sv_of("\n"), &out) == 0 && s.held.n == 0);
	usage_strip_done(&s);
	memset(large + n, 'a', sizeof(large) - n);
	(void)snprintf(large + sizeof(large) - 8, 8, "\"}}\n\n");
	for (n = 0; n < 3; n++)
		strip(large, n * USAGE_STRIP_MAX, large);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_event_with_the_usage_is_taken_out_wherever_it_is_split),
		CASE(all_other_events_pass_byte_for_byte),
		CASE(an_event_passes_as_soon_as_it_is_known_and_no_more_is_held),
		CASE(usage_is_read_however_the_reply_is_split),
		CASE(a_reply_that_does_not_say_what_it_used_counts_all_the_same),
		CASE(a_stream_is_complete_when_its_last_event_came_and_not_by_a_number_before),
		CASE(the_first_number_of_gemini_is_not_its_last),
		CASE(nesting_without_end_is_harmless),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
