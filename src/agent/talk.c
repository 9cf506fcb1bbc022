#include "agent/talk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"

enum {
	OLD_OUTPUT = 300,	   /* bytes that are left of an output that was cut */
	FRESH = 2,		   /* the last outputs are cut only where nothing else helps */
	REQUEST_MAX = 24 << 20,
};

enum item_kind { ITEM_REPLY, ITEM_RESULT, ITEM_WORDS };

struct item {
	enum item_kind kind;
	char *id, *name; /* of a result: of the call and its tool */
	char *text; /* JSON of a reply; else the words or the output */
	size_t n;
	bool failed;
};

struct talk {
	enum api api;
	char *model;
	struct item *v;
	size_t n, cap;
	size_t bytes; /* of all texts */
	size_t max;
};

const char talk_system[] = "You are working on a task in a Linux sandbox, alone: nobody answers questions. Use the "
			   "tool `shell` to look around, to do the work and to check it. "
			   "Each command runs with /bin/sh in the same folder, without a terminal and without input; "
			   "nothing is kept between commands but files and background processes. "
			   "Send the output of background processes to files. Long outputs are cut in the middle. "
			   "There may be no network; a refusal that names a policy is final. "
			   "When the task is done and you have checked it, answer with a short summary and without "
			   "calling a tool: that ends your work.";

static int add(struct talk *t, enum item_kind kind, const struct reply_call *call, struct sv text, bool failed)
{
	AUTO_FREE char *id = call ? strdup(call->id) : NULL, *name = call ? strdup(call->name) : NULL,
		       *copy = malloc(text.n + 1);
	struct item *v = t->v;
	size_t cap = t->cap ? t->cap * 2 : 64;

	if (t->n == t->cap) {
		v = reallocarray(t->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		t->v = v;
		t->cap = cap;
	}
	if ((call && (!id || !name)) || !copy)
		return -ENOMEM;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	t->v[t->n++] = (struct item){kind, id, name, copy, text.n, failed};
	t->bytes += text.n;
	id = name = copy = NULL;
	return 0;
}

struct talk *talk_new(enum api api, const char *model, struct sv instruction)
{
	struct talk *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct talk){.api = api, .model = strdup(model), .max = TALK_CONTEXT};
	if (t->model && add(t, ITEM_WORDS, NULL, instruction, false) == 0)
		return t;
	talk_free(t);
	return NULL;
}

void talk_free(struct talk *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++) {
		free(t->v[i].id);
		free(t->v[i].name);
		free(t->v[i].text);
	}
	free(t->v);
	free(t->model);
	free(t);
}

int talk_add_reply(struct talk *t, const struct reply *r)
{
	return add(t, ITEM_REPLY, NULL, r->echo, false);
}

int talk_add_result(struct talk *t, const struct reply_call *call, struct sv output, bool failed)
{
	AUTO_FREE char *clean = malloc(output.n + 1);
	size_t i, n = 0;

	if (!clean)
		return -ENOMEM;
	for (i = 0; i < output.n; i++)
		if (output.p[i])
			clean[n++] = output.p[i];
	return add(t, ITEM_RESULT, call, sv_n(clean, n), failed);
}

int talk_add_words(struct talk *t, const char *words)
{
	return add(t, ITEM_WORDS, NULL, sv_of(words), false);
}

/* Replaces an output by its beginning; false where that would save nothing. */
static bool cut(struct talk *t, struct item *i)
{
	AUTO_BUF text = {0};

	if (i->kind != ITEM_RESULT || i->n <= 2 * OLD_OUTPUT)
		return false;
	buf_init(&text, 2 * OLD_OUTPUT);
	(void)buf_add(&text, i->text, OLD_OUTPUT);
	(void)buf_printf(&text, "\n[%zu bytes more of this old output were dropped]", i->n - OLD_OUTPUT);
	if (buf_failed(&text))
		return false;
	t->bytes -= i->n - text.n;
	i->n = text.n;
	free(i->text);
	i->text = buf_take(&text);
	return true;
}

/* -E2BIG: it cannot be made to fit. */
static int fit(struct talk *t)
{
	size_t i, fresh = 0, last = t->n;

	while (last > 0 && fresh < FRESH)
		fresh += t->v[--last].kind == ITEM_RESULT;
	for (i = 0; i < t->n && t->bytes > t->max; i++)
		if (i < last)
			(void)cut(t, &t->v[i]);
	for (i = last; i < t->n && t->bytes > t->max; i++)
		(void)cut(t, &t->v[i]);
	return t->bytes > t->max ? -E2BIG : 0;
}

int talk_shrink(struct talk *t)
{
	size_t now = t->bytes < t->max ? t->bytes : t->max;

	if (now / 2 < TALK_CONTEXT_LEAST)
		return -E2BIG;
	t->max = now / 2;
	return fit(t);
}

/* The tool's arguments, as a JSON schema. */
static const char parameters[] =
	"{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"description\":\"for /bin/sh -c\"},"
	"\"timeout\":{\"type\":\"integer\",\"description\":\"seconds that it may take; 120 where it is left "
	"out\"}},\"required\":[\"command\"]}";
static const char description[] = "Runs a command with /bin/sh -c and returns its exit status and what it printed.";

static void openai_item(struct json *j, const struct item *i)
{
	if (i->kind == ITEM_REPLY) {
		json_raw(j, sv_n(i->text, i->n));
		return;
	}
	json_open(j);
	json_kstr(j, "role", i->kind == ITEM_RESULT ? "tool" : "user");
	if (i->kind == ITEM_RESULT)
		json_kstr(j, "tool_call_id", i->id);
	json_key(j, "content");
	json_sv(j, sv_n(i->text, i->n));
	json_close(j);
}

static void write_openai(const struct talk *t, struct json *j)
{
	size_t i;

	json_kstr(j, "model", t->model);
	json_key(j, "messages");
	json_list(j);
	json_open(j);
	json_kstr(j, "role", "system");
	json_kstr(j, "content", talk_system);
	json_close(j);
	for (i = 0; i < t->n; i++)
		openai_item(j, &t->v[i]);
	json_end(j);
	json_key(j, "tools");
	json_list(j);
	json_open(j);
	json_kstr(j, "type", "function");
	json_key(j, "function");
	json_open(j);
	json_kstr(j, "name", "shell");
	json_kstr(j, "description", description);
	json_key(j, "parameters");
	json_raw(j, sv_of(parameters));
	json_close(j);
	json_close(j);
	json_end(j);
}

/* last: what comes so far is worth remembering for the next request, which begins with it. */
static void anthropic_block(struct json *j, const struct item *i, bool last)
{
	json_open(j);
	json_kstr(j, "type", i->kind == ITEM_RESULT ? "tool_result" : "text");
	if (i->kind == ITEM_RESULT) {
		json_kstr(j, "tool_use_id", i->id);
		json_kbool(j, "is_error", i->failed);
	}
	json_key(j, i->kind == ITEM_RESULT ? "content" : "text");
	/* an empty text is refused there */
	json_sv(j, i->n ? sv_n(i->text, i->n) : sv_of("(nothing)"));
	if (last) {
		json_key(j, "cache_control");
		json_raw(j, sv_of("{\"type\":\"ephemeral\"}"));
	}
	json_close(j);
}

static void gemini_part(struct json *j, const struct item *i, bool last)
{
	(void)last;
	json_open(j);
	if (i->kind == ITEM_RESULT) {
		json_key(j, "functionResponse");
		json_open(j);
		if (i->id[0] != '#')
			json_kstr(j, "id", i->id);
		json_kstr(j, "name", i->name);
		json_key(j, "response");
		json_open(j);
		json_key(j, i->failed ? "error" : "output");
		json_sv(j, sv_n(i->text, i->n));
		json_close(j);
		json_close(j);
	} else {
		json_key(j, "text");
		json_sv(j, sv_n(i->text, i->n));
	}
	json_close(j);
}

/* Everything between two replies is one message of the user's, with a list under that key. */
static void write_turns(const struct talk *t, struct json *j, const char *key,
			void (*part)(struct json *j, const struct item *i, bool last))
{
	bool open = false;
	size_t i;

	for (i = 0; i < t->n; i++) {
		if (t->v[i].kind == ITEM_REPLY) {
			json_raw(j, sv_n(t->v[i].text, t->v[i].n));
			continue;
		}
		if (!open) {
			json_open(j);
			json_kstr(j, "role", "user");
			json_key(j, key);
			json_list(j);
		}
		part(j, &t->v[i], i + 1 == t->n);
		open = i + 1 < t->n && t->v[i + 1].kind != ITEM_REPLY;
		if (!open) {
			json_end(j);
			json_close(j);
		}
	}
}

static void write_anthropic(const struct talk *t, struct json *j)
{
	json_kstr(j, "model", t->model);
	json_kint(j, "max_tokens", TALK_OUTPUT_TOKENS);
	json_kstr(j, "system", talk_system);
	json_key(j, "tools");
	json_list(j);
	json_open(j);
	json_kstr(j, "name", "shell");
	json_kstr(j, "description", description);
	json_key(j, "input_schema");
	json_raw(j, sv_of(parameters));
	json_close(j);
	json_end(j);
	json_key(j, "messages");
	json_list(j);
	write_turns(t, j, "content", anthropic_block);
	json_end(j);
}

/* The model is in the request's path. */
static void write_gemini(const struct talk *t, struct json *j)
{
	json_key(j, "systemInstruction");
	json_open(j);
	json_key(j, "parts");
	json_list(j);
	json_open(j);
	json_kstr(j, "text", talk_system);
	json_close(j);
	json_end(j);
	json_close(j);
	json_key(j, "tools");
	json_list(j);
	json_open(j);
	json_key(j, "functionDeclarations");
	json_list(j);
	json_open(j);
	json_kstr(j, "name", "shell");
	json_kstr(j, "description", description);
	json_key(j, "parameters");
	json_raw(j, sv_of(parameters));
	json_close(j);
	json_end(j);
	json_close(j);
	json_end(j);
	json_key(j, "contents");
	json_list(j);
	write_turns(t, j, "parts", gemini_part);
	json_end(j);
}

int talk_request(struct talk *t, struct buf *out)
{
	static void (*const forms[])(const struct talk *, struct json *) = {
		[API_OPENAI] = write_openai, [API_ANTHROPIC] = write_anthropic, [API_GEMINI] = write_gemini};
	struct json j;
	int r = fit(t);

	if (r < 0)
		return r;
	buf_init(out, REQUEST_MAX);
	json_init(&j, out);
	json_open(&j);
	forms[t->api](t, &j);
	json_close(&j);
	return buf_failed(out);
}
