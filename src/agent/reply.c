#include "agent/reply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/params.h"
#include "agent/shell.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_scan.h"

enum { NO_ID = UINT32_MAX };

struct reading {
	const struct json_scan *s;
	struct arena *a;
	struct reply *to;
	const char *why;
};

static int fail(struct reading *r, const char *why)
{
	r->why = why;
	return -1;
}

/* The string at a node, decoded; NULL where it is none, or there is no memory (arena_failed()). */
static const char *string_at(const struct json_scan *s, uint32_t i, struct arena *a, size_t *ret_n)
{
	AUTO_BUF text = {0};

	if (!i || json_scan_kind(s, i) != SCAN_STRING)
		return NULL;
	buf_init(&text, REPLY_MAX);
	json_scan_decode(s, i, &text);
	if (buf_failed(&text))
		return NULL;
	if (ret_n)
		*ret_n = text.n;
	return arena_str(a, buf_view(&text));
}

/* A string, or a list of parts of which some have a text. */
static int read_text(struct reading *r, uint32_t content)
{
	AUTO_BUF text = {0};
	uint32_t i;

	buf_init(&text, REPLY_MAX);
	if (json_scan_kind(r->s, content) == SCAN_STRING)
		json_scan_decode(r->s, content, &text);
	for (i = json_scan_kind(r->s, content) == SCAN_ARRAY ? json_scan_first(r->s, content) : 0; i;
	     i = json_scan_after(r->s, content, i)) {
		uint32_t type = params_get(r->s, i, "type"), part = params_get(r->s, i, "text");

		if (!type || !part || !json_scan_is_string(r->s, type, "text") ||
		    json_scan_kind(r->s, part) != SCAN_STRING)
			continue;
		if (text.n)
			(void)buf_char(&text, '\n');
		json_scan_decode(r->s, part, &text);
	}
	r->to->text = sv_n(arena_str(r->a, buf_view(&text)), text.n);
	return buf_failed(&text) || !r->to->text.p ? fail(r, "does not fit into memory") : 0;
}

/* The shell tool's arguments, wherever they stood. */
static void read_arguments(const struct json_scan *s, uint32_t command, uint32_t timeout, struct arena *a,
			   struct reply_call *c)
{
	size_t n = 0;

	c->command = string_at(s, command, a, &n);
	c->timeout = params_count(s, timeout, 0);
	if (!c->command)
		c->fault = "there is no command; call shell with {\"command\": \"...\"}";
	else if (n > SHELL_COMMAND_MAX)
		c->fault = "the command is longer than 128 KiB; write large files in several pieces";
	else if (strlen(c->command) != n)
		c->fault = "the command has a NUL byte in it";
}

/* id: NO_ID where calls are told apart by their order. */
static int read_call(struct reading *r, uint32_t id, uint32_t name, struct reply_call **ret)
{
	struct reply *to = r->to;
	struct reply_call *c;
	size_t n = 0;

	if (to->n_calls == REPLY_CALLS_MAX)
		return fail(r, "calls more than 64 tools at once");
	c = &to->calls[to->n_calls++];
	c->id = id == NO_ID ? arena_printf(r->a, "#%zu", to->n_calls) : string_at(r->s, id, r->a, &n);
	if (!c->id || (id != NO_ID && (!n || n > 512 || strlen(c->id) != n)))
		return fail(r, "calls a tool without a usable id");
	c->name = string_at(r->s, name, r->a, &n);
	if (!c->name || !n || n > 512 || strlen(c->name) != n)
		c->name = "none";
	if (!name || !json_scan_is_string(r->s, name, "shell"))
		c->fault = "there is no such tool; the only one is shell";
	*ret = c;
	return 0;
}

static void read_stop(struct reading *r, uint32_t reason, const char *cut, const char *refused)
{
	r->to->stop = string_at(r->s, reason, r->a, NULL);
	r->to->cut = r->to->stop && strcmp(r->to->stop, cut) == 0;
	r->to->refused = r->to->stop && strcmp(r->to->stop, refused) == 0;
}

static void echo_open(struct json *j, struct buf *out, const char *role, const char *key)
{
	buf_init(out, REPLY_MAX + 4096);
	json_init(j, out);
	json_open(j);
	json_kstr(j, "role", role);
	json_key(j, key);
}

static int echo_close(struct reading *r, struct json *j)
{
	struct buf *out = j->out;

	json_close(j);
	r->to->echo = sv_n(arena_str(r->a, buf_view(out)), out->n);
	return buf_failed(out) || !r->to->echo.p ? fail(r, "does not fit into memory") : 0;
}

static int anthropic_calls(struct reading *r, uint32_t content)
{
	struct reply_call *c;
	uint32_t i, type, input;

	for (i = json_scan_first(r->s, content); i; i = json_scan_after(r->s, content, i)) {
		type = params_get(r->s, i, "type");
		if (!type || !json_scan_is_string(r->s, type, "tool_use"))
			continue;
		if (read_call(r, params_get(r->s, i, "id"), params_get(r->s, i, "name"), &c) < 0)
			return -1;
		input = params_get(r->s, i, "input");
		if (!c->fault)
			read_arguments(r->s, params_get(r->s, input, "command"), params_get(r->s, input, "timeout"),
				       r->a, c);
	}
	return 0;
}

/* Blocks go back as they came: thoughts are signed. */
static int read_anthropic(struct reading *r)
{
	uint32_t content = json_scan_get(r->s, 0, "content"), usage = json_scan_get(r->s, 0, "usage");
	AUTO_BUF echo = {0};
	struct json j;

	if (!content || json_scan_kind(r->s, content) != SCAN_ARRAY)
		return fail(r, "has no content");
	read_stop(r, json_scan_get(r->s, 0, "stop_reason"), "max_tokens", "refusal");
	r->to->input = params_count(r->s, params_get(r->s, usage, "input_tokens"), 0) +
		       params_count(r->s, params_get(r->s, usage, "cache_read_input_tokens"), 0) +
		       params_count(r->s, params_get(r->s, usage, "cache_creation_input_tokens"), 0);
	r->to->output = params_count(r->s, params_get(r->s, usage, "output_tokens"), 0);
	if (read_text(r, content) < 0 || anthropic_calls(r, content) < 0)
		return -1;
	echo_open(&j, &echo, "assistant", "content");
	json_raw(&j, json_scan_text(r->s, content));
	return echo_close(r, &j);
}

/* Arguments are JSON in a string. What is none goes back as {}, because some servers read it again. */
static int openai_call(struct reading *r, uint32_t call, struct json *echo)
{
	uint32_t function = params_get(r->s, call, "function"), arguments = params_get(r->s, function, "arguments"),
		 name = params_get(r->s, function, "name"), extra = params_get(r->s, call, "extra_content");
	struct reply_call *c;
	AUTO_BUF inner = {0};
	AUTO_SCAN s = {0};
	struct scan_error e;
	bool usable;

	if (!function || read_call(r, params_get(r->s, call, "id"), name, &c) < 0)
		return r->why ? -1 : fail(r, "calls a tool that is no function");
	buf_init(&inner, REPLY_MAX);
	if (arguments && json_scan_kind(r->s, arguments) == SCAN_STRING)
		json_scan_decode(r->s, arguments, &inner);
	usable = json_scan_read(&s, &inner, &e) == 0 && json_scan_kind(&s, 0) == SCAN_OBJECT;
	if (!usable && !c->fault)
		c->fault = "the arguments are not a JSON object";
	else if (!c->fault)
		read_arguments(&s, json_scan_get(&s, 0, "command"), json_scan_get(&s, 0, "timeout"), r->a, c);
	json_open(echo);
	json_kstr(echo, "id", c->id);
	json_kstr(echo, "type", "function");
	json_key(echo, "function");
	json_open(echo);
	json_key(echo, "name");
	json_raw(echo, name && json_scan_kind(r->s, name) == SCAN_STRING
			       ? sv_n(json_scan_text(r->s, name).p - 1, json_scan_text(r->s, name).n + 2)
			       : sv_of("\"none\""));
	json_key(echo, "arguments");
	json_sv(echo, usable ? json_scan_text(&s, 0) : sv_of("{}"));
	json_close(echo);
	if (extra) {
		json_key(echo, "extra_content");
		json_raw(echo, json_scan_kind(r->s, extra) == SCAN_OBJECT ? json_scan_text(r->s, extra) : sv_of("{}"));
	}
	json_close(echo);
	return 0;
}

static int openai_calls(struct reading *r, uint32_t calls, struct json *echo)
{
	uint32_t i;

	if (!calls || json_scan_kind(r->s, calls) != SCAN_ARRAY || !json_scan_first(r->s, calls))
		return 0;
	json_key(echo, "tool_calls");
	json_list(echo);
	for (i = json_scan_first(r->s, calls); i; i = json_scan_after(r->s, calls, i))
		if (openai_call(r, i, echo) < 0)
			return -1;
	json_end(echo);
	return 0;
}

static int read_openai(struct reading *r)
{
	uint32_t choices = json_scan_get(r->s, 0, "choices"), usage = json_scan_get(r->s, 0, "usage");
	uint32_t choice = choices && json_scan_kind(r->s, choices) == SCAN_ARRAY ? json_scan_first(r->s, choices) : 0;
	uint32_t message = params_get(r->s, choice, "message"), content = params_get(r->s, message, "content");
	AUTO_BUF echo = {0};
	struct json j;

	if (!message || json_scan_kind(r->s, message) != SCAN_OBJECT)
		return fail(r, "has no message");
	read_stop(r, params_get(r->s, choice, "finish_reason"), "length", "content_filter");
	r->to->input = params_count(r->s, params_get(r->s, usage, "prompt_tokens"), 0);
	r->to->output = params_count(r->s, params_get(r->s, usage, "completion_tokens"), 0);
	if (content && read_text(r, content) < 0)
		return -1;
	echo_open(&j, &echo, "assistant", "content");
	if (r->to->text.n)
		json_sv(&j, r->to->text);
	else
		json_none(&j);
	if (openai_calls(r, params_get(r->s, message, "tool_calls"), &j) < 0)
		return -1;
	return echo_close(r, &j);
}

/* Thoughts are parts with a text, too. */
static bool is_thought(const struct reading *r, uint32_t part)
{
	uint32_t i = params_get(r->s, part, "thought");

	return i && json_scan_kind(r->s, i) == SCAN_BOOL && sv_is(json_scan_text(r->s, i), "true");
}

static int gemini_part(struct reading *r, uint32_t part, struct buf *text)
{
	uint32_t said = params_get(r->s, part, "text"), call = params_get(r->s, part, "functionCall"),
		 id = params_get(r->s, call, "id"), args = params_get(r->s, call, "args");
	struct reply_call *c;

	if (said && json_scan_kind(r->s, said) == SCAN_STRING && !is_thought(r, part))
		json_scan_decode(r->s, said, text);
	if (!call)
		return 0;
	if (json_scan_kind(r->s, call) != SCAN_OBJECT)
		return fail(r, "calls a tool that is no function");
	if (read_call(r, id ? id : NO_ID, params_get(r->s, call, "name"), &c) < 0)
		return -1;
	if (!c->fault)
		read_arguments(r->s, params_get(r->s, args, "command"), params_get(r->s, args, "timeout"), r->a, c);
	return 0;
}

/* Why it ended: most of the reasons mean that it will not say it. */
static void gemini_stop(struct reading *r, uint32_t reason)
{
	static const char *const fine[] = {"STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED", "OTHER"};
	size_t i = 0;

	read_stop(r, reason, "MAX_TOKENS", "SAFETY");
	while (r->to->stop && i < ARRAY_LEN(fine) && strcmp(r->to->stop, fine[i]) != 0)
		i++;
	r->to->refused = r->to->stop && i == ARRAY_LEN(fine);
}

/* Parts go back as they came: thoughts are signed. */
static int read_gemini(struct reading *r)
{
	uint32_t candidates = json_scan_get(r->s, 0, "candidates"), usage = json_scan_get(r->s, 0, "usageMetadata"), i;
	uint32_t candidate =
		candidates && json_scan_kind(r->s, candidates) == SCAN_ARRAY ? json_scan_first(r->s, candidates) : 0;
	uint32_t parts = params_get(r->s, params_get(r->s, candidate, "content"), "parts"),
		 blocked = params_get(r->s, json_scan_get(r->s, 0, "promptFeedback"), "blockReason");
	AUTO_BUF text = {0};
	AUTO_BUF echo = {0};
	struct json j;

	if (!candidate && !blocked)
		return fail(r, "has no candidate");
	gemini_stop(r, candidate ? params_get(r->s, candidate, "finishReason") : blocked);
	if (r->to->stop && strcmp(r->to->stop, "MALFORMED_FUNCTION_CALL") == 0)
		return fail(r, "has a call that the server could not read");
	r->to->input = params_count(r->s, params_get(r->s, usage, "promptTokenCount"), 0) +
		       params_count(r->s, params_get(r->s, usage, "toolUsePromptTokenCount"), 0);
	r->to->output = params_count(r->s, params_get(r->s, usage, "candidatesTokenCount"), 0) +
			params_count(r->s, params_get(r->s, usage, "thoughtsTokenCount"), 0);
	buf_init(&text, REPLY_MAX);
	if (parts && json_scan_kind(r->s, parts) != SCAN_ARRAY)
		return fail(r, "has parts that are no list");
	for (i = parts ? json_scan_first(r->s, parts) : 0; i; i = json_scan_after(r->s, parts, i))
		if (gemini_part(r, i, &text) < 0)
			return -1;
	r->to->text = sv_n(arena_str(r->a, buf_view(&text)), text.n);
	if (buf_failed(&text) || !r->to->text.p)
		return fail(r, "does not fit into memory");
	echo_open(&j, &echo, "model", "parts");
	json_raw(&j, parts ? json_scan_text(r->s, parts) : sv_of("[]"));
	return echo_close(r, &j);
}

int reply_read(enum api api, struct buf *body, struct arena *a, struct reply *ret, const char **ret_why)
{
	static int (*const forms[])(struct reading *) = {
		[API_OPENAI] = read_openai, [API_ANTHROPIC] = read_anthropic, [API_GEMINI] = read_gemini};
	struct reply to = {.text = {"", 0}};
	AUTO_SCAN s = {0};
	struct reading r = {.s = &s, .a = a, .to = &to};
	struct scan_error e = {0};

	if (json_scan_read(&s, body, &e) < 0) {
		*ret_why = e.why ? e.why : "does not fit into memory";
		return -1;
	}
	to.calls = arena_array(a, REPLY_CALLS_MAX, sizeof(*to.calls));
	if (!to.calls || json_scan_kind(&s, 0) != SCAN_OBJECT || forms[api](&r) < 0 || arena_failed(a)) {
		*ret_why = r.why ? r.why : "is not an object";
		return -1;
	}
	to.stop = to.stop ? to.stop : "";
	*ret = to;
	return 0;
}

const char *reply_error(struct buf *body, struct arena *a)
{
	AUTO_SCAN s = {0};
	struct scan_error e;
	uint32_t error, text;
	const char *words, *hint;

	if (json_scan_read(&s, body, &e) < 0 || json_scan_kind(&s, 0) != SCAN_OBJECT)
		return "";
	error = json_scan_get(&s, 0, "error");
	text = error && json_scan_kind(&s, error) == SCAN_OBJECT ? params_get(&s, error, "message")
								 : json_scan_get(&s, 0, "detail");
	if (!text)
		text = error && json_scan_kind(&s, error) == SCAN_STRING ? error : json_scan_get(&s, 0, "message");
	words = string_at(&s, text, a, NULL);
	hint = string_at(&s, json_scan_get(&s, 0, "hint"), a, NULL);
	if (words && hint && hint[0])
		words = arena_printf(a, "%s (%s)", words, hint);
	return words ? words : "";
}
