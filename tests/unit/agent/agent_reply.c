#include "agent/reply.h"

#include "agent/talk.h"
#include "base/json_scan.h"
#include "check.h"

#define CALL(arguments)                                                                                                \
	"{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","           \
	"\"function\":{\"name\":\"shell\",\"arguments\":" arguments "}}]},\"finish_reason\":\"tool_calls\"}]}"

static int read_text(enum api api, const char *text, size_t n, struct arena *a, struct reply *ret, const char **why)
{
	AUTO_BUF body = {0};

	buf_init(&body, REPLY_MAX);
	(void)buf_add(&body, text, n);
	return reply_read(api, &body, a, ret, why);
}

static void a_call_is_read_in_every_form(void)
{
	static const char *const forms[] = {
		[API_OPENAI] = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4},\"choices\":[{\"message\":{"
			       "\"content\":\"Look.\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
			       "\"function\":{\"name\":\"shell\","
			       "\"arguments\":\"{\\\"command\\\":\\\"ls \\\\\\\"a "
			       "b\\\\\\\"\\\",\\\"timeout\\\":9}\"}}]},\"finish_reason\":\"tool_calls\"}]}",
		[API_ANTHROPIC] = "{\"usage\":{\"input_tokens\":1,\"cache_read_input_tokens\":2,\"output_tokens\":4},"
				  "\"stop_reason\":\"tool_use\",\"content\":[{\"type\":\"text\",\"text\":\"Look.\"},"
				  "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"shell\",\"input\":{\"command\":\"ls "
				  "\\\"a b\\\"\",\"timeout\":9}}]}",
		[API_GEMINI] = "{\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":1,"
			       "\"thoughtsTokenCount\":3},\"candidates\":[{\"finishReason\":\"STOP\",\"content\":{"
			       "\"role\":\"model\",\"parts\":[{\"text\":\"hm\",\"thought\":true},"
			       "{\"text\":\"Look.\"},{\"functionCall\":{\"id\":\"c1\",\"name\":\"shell\",\"args\":{"
			       "\"command\":\"ls \\\"a b\\\"\",\"timeout\":9}},\"thoughtSignature\":\"eA==\"}]}}]}",
	};
	int api;

	for (api = API_OPENAI; api < APIS; api++) {
		struct arena *a = arena_new();
		struct reply r = {0};
		const char *why = "";

		CHECK(read_text((enum api)api, forms[api], strlen(forms[api]), a, &r, &why) == 0);
		CHECK(sv_is(r.text, "Look.") && r.n_calls == 1 && !r.cut && r.input == 3 && r.output == 4);
		if (r.n_calls == 1) {
			CHECK_STR(r.calls[0].id, "c1");
			CHECK_STR(r.calls[0].command, "ls \"a b\"");
			CHECK(r.calls[0].timeout == 9 && !r.calls[0].fault);
		}
		arena_free(a);
	}
}

static void what_cannot_be_run_has_a_fault_and_a_place_for_its_result(void)
{
	static const char *const arguments[] = {
		"\"{\\\"command\\\":7}\"",
		"\"{}\"",
		"\"[]\"",
		"\"\"",
		"\"{\"",
		"null",
		"{\"command\":\"ls\"}",
		"\"{\\\"command\\\":\\\"a\\\\u0000b\\\"}\"",
		"\"{\\\"command\\\":\\\"a\\\",\\\"command\\\":\\\"b\\\"}\"",
	};
	size_t i;

	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		struct arena *a = arena_new();
		struct reply r = {0};
		const char *why = "";
		char *text = arena_printf(a, CALL("%s"), arguments[i]);

		CHECK(read_text(API_OPENAI, text, strlen(text), a, &r, &why) == 0);
		CHECK(r.n_calls == 1 && r.calls[0].fault && strcmp(r.calls[0].id, "c1") == 0);
		arena_free(a);
	}
}

static void arguments_are_those_of_the_call_and_of_nothing_else(void)
{
	/* a call without an input must not find a command in the answer around it */
	static const char text[] =
		"{\"command\":\"rm -rf /\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"shell\"}]}";
	struct arena *a = arena_new();
	struct reply r = {0};
	const char *why = "";

	CHECK(read_text(API_ANTHROPIC, text, strlen(text), a, &r, &why) == 0);
	CHECK(r.n_calls == 1 && r.calls[0].fault && !r.calls[0].command);
	arena_free(a);
}

static void answers_that_are_none_are_refused(void)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"1",
		"{\"choices\":[]}",
		"{\"choices\":[{}]}",
		"{\"choices\":[{\"message\":[]}]}",
		CALL("\"{}\"") "x",
		"{\"choices\":[{\"message\":{\"content\":\"\\ud800\"}}]}",
		"{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}",
		"{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"\",\"function\":{}}]}}]}",
		"{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"a\\u0000\",\"function\":{}}]}}]}",
		"{\"choices\":[{\"message\":{\"tool_calls\":[\"shell\"]}}]}",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct arena *a = arena_new();
		struct reply r = {0};
		const char *why = NULL;

		CHECK(read_text(API_OPENAI, texts[i], strlen(texts[i]), a, &r, &why) == -1 && why);
		arena_free(a);
	}
}

static void deep_nesting_and_too_many_calls_are_refused(void)
{
	struct arena *a = arena_new();
	struct reply r = {0};
	const char *why = NULL;
	AUTO_BUF text = {0};
	unsigned i;

	buf_init(&text, 1 << 20);
	(void)buf_str(&text, "{\"content\":");
	for (i = 0; i < 100000; i++)
		(void)buf_char(&text, '[');
	CHECK(read_text(API_ANTHROPIC, text.p, text.n, a, &r, &why) == -1);
	buf_clear(&text);
	(void)buf_str(&text, "{\"content\":[");
	for (i = 0; i <= REPLY_CALLS_MAX; i++)
		(void)buf_printf(
			&text,
			"%s{\"type\":\"tool_use\",\"id\":\"c%u\",\"name\":\"shell\",\"input\":{\"command\":\"x\"}}",
			i ? "," : "", i);
	(void)buf_str(&text, "]}");
	CHECK(read_text(API_ANTHROPIC, text.p, text.n, a, &r, &why) == -1);
	arena_free(a);
}

static void a_request_repeats_the_reply_and_its_results_in_order(void)
{
	struct arena *a = arena_new();
	struct talk *t = talk_new(API_OPENAI, "m", sv_of("do it"));
	static const char text[] = CALL("\"{\\\"command\\\":\\\"ls\\\"}\"");
	struct reply r = {0};
	const char *why = "";
	AUTO_BUF body = {0};
	AUTO_SCAN s = {0};
	struct scan_error e;

	CHECK(read_text(API_OPENAI, text, strlen(text), a, &r, &why) == 0);
	CHECK(talk_add_reply(t, &r) == 0 &&
	      talk_add_result(t, &(struct reply_call){.id = "c1", .name = "shell"}, sv_n("a\0b\xff", 4), true) == 0 &&
	      talk_request(t, &body) == 0);
	CHECK(strstr(body.p, "{\"role\":\"user\",\"content\":\"do "
			     "it\"},{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
			     "\"function\",\"function\":{\"name\":\"shell\","
			     "\"arguments\":\"{\\\"command\\\":\\\"ls\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":"
			     "\"c1\",\"content\":\"ab\\ufffd\"}]"));
	CHECK(json_scan_read(&s, &body, &e) == 0);
	talk_free(t);
	arena_free(a);
}

static void what_a_model_is_told_of_an_error_is_found(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"{\"error\":{\"message\":\"slow down\"}}", "slow down"},
		{"{\"error\":\"policy_denied\",\"detail\":\"no\",\"hint\":\"ask\"}", "no (ask)"},
		{"{\"error\":\"x\"}", "x"},
		{"{\"message\":\"y\"}", "y"},
		{"{}", ""},
		{"<html>", ""},
		{"", ""},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *a = arena_new();
		AUTO_BUF body = {0};

		buf_init(&body, 1024);
		(void)buf_str(&body, cases[i].in);
		CHECK_STR(reply_error(&body, a), cases[i].out);
		arena_free(a);
	}
}

static void geminis_parts_go_back_as_they_came_and_results_by_name(void)
{
	static const char text[] =
		"{\"candidates\":[{\"finishReason\":\"STOP\",\"content\":{\"parts\":[{\"functionCall\":{\"name\":"
		"\"shell\",\"args\":{\"command\":\"ls\"}},\"thoughtSignature\":\"eA==\"},"
		"{\"functionCall\":{\"name\":\"rm\",\"args\":{}}},{\"functionCall\":{\"id\":\"x7\",\"name\":\"shell\","
		"\"args\":[]}}]}}]}";
	static const char want[] =
		"{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"shell\",\"args\":{\"command\":\"ls\"}},"
		"\"thoughtSignature\":\"eA==\"},{\"functionCall\":{\"name\":\"rm\",\"args\":{}}},"
		"{\"functionCall\":{\"id\":\"x7\",\"name\":\"shell\",\"args\":[]}}]},{\"role\":\"user\",\"parts\":[{"
		"\"functionResponse\":{\"name\":\"shell\",\"response\":{\"output\":\"a\"}}},"
		"{\"functionResponse\":{\"name\":\"rm\",\"response\":{\"error\":\"b\"}}},{\"functionResponse\":{\"id\":"
		"\"x7\",\"name\":\"shell\",\"response\":{\"error\":\"c\"}}}]}]}";
	struct arena *a = arena_new();
	struct talk *t = talk_new(API_GEMINI, "gemini-x", sv_of("do it"));
	struct reply r = {0};
	const char *why = "";
	AUTO_BUF body = {0};

	CHECK(read_text(API_GEMINI, text, sizeof(text) - 1, a, &r, &why) == 0);
	CHECK(r.n_calls == 3 && !r.calls[0].fault && r.calls[1].fault && r.calls[2].fault && r.calls[0].id[0] == '#' &&
	      strcmp(r.calls[0].id, r.calls[1].id) != 0);
	CHECK(talk_add_reply(t, &r) == 0);
	CHECK(talk_add_result(t, &r.calls[0], sv_of("a"), false) == 0 &&
	      talk_add_result(t, &r.calls[1], sv_of("b"), true) == 0 &&
	      talk_add_result(t, &r.calls[2], sv_of("c"), true) == 0);
	CHECK(talk_request(t, &body) == 0);
	CHECK(body.n > sizeof(want) - 1 && memcmp(body.p + body.n - (sizeof(want) - 1), want, sizeof(want) - 1) == 0);
	/* the model is in the path: a second name of it would be refused */
	CHECK(!strstr(body.p, "gemini-x"));
	talk_free(t);
	arena_free(a);
}

static void geminis_endings_are_told_apart(void)
{
	static const struct {
		const char *text;
		int result;
		bool cut, refused;
	} cases[] = {
		{"{\"candidates\":[{\"finishReason\":\"MAX_TOKENS\",\"content\":{\"role\":\"model\"}}]}", 0, true,
		 false},
		{"{\"candidates\":[{\"finishReason\":\"SAFETY\"}]}", 0, false, true},
		{"{\"candidates\":[{\"finishReason\":\"PROHIBITED_CONTENT\"}]}", 0, false, true},
		{"{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}", 0, false, true},
		{"{\"candidates\":[{\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}", -1, false, false},
		{"{\"candidates\":[]}", -1, false, false},
		{"{\"candidates\":{}}", -1, false, false},
		{"{}", -1, false, false},
		{"{\"candidates\":[{\"content\":{\"parts\":{}}}]}", -1, false, false},
		{"{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":7}]}}]}", -1, false, false},
		{"{\"candidates\":[{\"content\":{\"parts\":[7,null,{\"text\":7}]}}]}", 0, false, false},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *a = arena_new();
		struct reply r = {0};
		const char *why = "";

		CHECK(read_text(API_GEMINI, cases[i].text, strlen(cases[i].text), a, &r, &why) == cases[i].result);
		CHECK(r.cut == cases[i].cut && r.refused == cases[i].refused);
		arena_free(a);
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(geminis_parts_go_back_as_they_came_and_results_by_name),
		CASE(geminis_endings_are_told_apart),
		CASE(a_call_is_read_in_every_form),
		CASE(what_cannot_be_run_has_a_fault_and_a_place_for_its_result),
		CASE(arguments_are_those_of_the_call_and_of_nothing_else),
		CASE(answers_that_are_none_are_refused),
		CASE(deep_nesting_and_too_many_calls_are_refused),
		CASE(a_request_repeats_the_reply_and_its_results_in_order),
		CASE(what_a_model_is_told_of_an_error_is_found),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
