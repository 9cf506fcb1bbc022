#include "gate/inference/judge_rules.h"

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/text.h"
#include "gate/inference/judge_elsewhere.h"
#include "gate/inference/place.h"
#include "gate/inference/spelling.h"

static const char hint_tools[] = "leave it out; use tools that run inside the sandbox",
		  hint_inline[] = "send the content inline: base64, a data: URL, or text",
		  hint_name[] = "spell it as the provider does";

enum check {
	CHECK_SEEN,    /* judged elsewhere; only its spelling matters here */
	CHECK_REFUSED, /* unless null, false or empty */
	CHECK_TOOLS,
	CHECK_SOURCE,    /* Anthropic: {"type": ...} */
	CHECK_DATA_URL,  /* a data: URL, or an object whose url is one */
	CHECK_BASE64,    /* OpenAI: a data: URL, or base64 */
	CHECK_MEDIA,     /* a text, or a list of them, that is no URL but data: */
	CHECK_PLACE,     /* the same, where a text may well have a colon */
	CHECK_TEXT,      /* OpenAI: a string or a list is a prompt, an object a stored one */
	CHECK_SAME_MODEL /* Gemini: the model of the path again */
};

enum where { TOP = 1, CONTENT = 2, ANY = 3 };

struct name_rule {
	const char *name, *other; /* both spellings; other may be NULL */
	enum where where;
	enum check check;
	bool always; /* with server_tools: allow too */
	const char *hint;
};

static const struct name_rule anthropic_names[] = {
	{"model", NULL, TOP, CHECK_SEEN, true, NULL},
	{"stream", NULL, TOP, CHECK_SEEN, true, NULL},
	{"messages", NULL, TOP, CHECK_SEEN, true, NULL},
	{"system", NULL, TOP, CHECK_SEEN, true, NULL},
	{"max_tokens", NULL, TOP, CHECK_SEEN, true, NULL},
	{"n", NULL, TOP, CHECK_SEEN, true, NULL},
	{"tools", NULL, TOP, CHECK_TOOLS, false, NULL},
	{"container", NULL, TOP, CHECK_REFUSED, false, hint_tools},
	{"type", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"content", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"input", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"source", NULL, CONTENT, CHECK_SOURCE, false, NULL},
	{"file_id", NULL, CONTENT, CHECK_REFUSED, false, hint_inline},
};

static const struct name_rule openai_names[] = {
	{"model", NULL, TOP, CHECK_SEEN, true, NULL},
	{"stream", NULL, TOP, CHECK_SEEN, true, NULL},
	{"stream_options", NULL, TOP, CHECK_SEEN, true, NULL},
	{"messages", NULL, TOP, CHECK_SEEN, true, NULL},
	{"input", NULL, TOP, CHECK_SEEN, true, NULL},
	{"max_tokens", NULL, TOP, CHECK_SEEN, true, NULL},
	{"max_completion_tokens", NULL, TOP, CHECK_SEEN, true, NULL},
	{"max_output_tokens", NULL, TOP, CHECK_SEEN, true, NULL},
	{"max_new_tokens", NULL, TOP, CHECK_SEEN, true, NULL},
	{"n_predict", NULL, TOP, CHECK_SEEN, true, NULL},
	{"num_predict", NULL, TOP, CHECK_SEEN, true, NULL},
	{"options", NULL, TOP, CHECK_SEEN, true, NULL},
	{"n", NULL, TOP, CHECK_SEEN, true, NULL},
	{"best_of", NULL, TOP, CHECK_SEEN, true, NULL},
	{"num_return_sequences", NULL, TOP, CHECK_SEEN, true, NULL},
	{"n_cmpl", NULL, TOP, CHECK_SEEN, true, NULL},
	{"prompt_embeds", NULL, TOP, CHECK_SEEN, true, NULL},
	{"background", NULL, TOP, CHECK_REFUSED, true, "leave it out; wait for the reply"},
	{"prompt", NULL, TOP, CHECK_TEXT, false, "send the prompt itself"},
	{"tools", NULL, ANY, CHECK_TOOLS, false, NULL},
	{"type", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"content", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"output", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"url", NULL, CONTENT, CHECK_SEEN, false, NULL},
	{"file_data", NULL, CONTENT, CHECK_BASE64, false, NULL},
	{"data", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"image", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"images", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"video", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"audio", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"videos", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"audios", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"input_image", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"input_video", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"input_audio", NULL, CONTENT, CHECK_MEDIA, false, NULL},
	{"input_file", NULL, CONTENT, CHECK_PLACE, false, NULL},
	{"file", NULL, CONTENT, CHECK_PLACE, false, NULL},
	{"document", NULL, CONTENT, CHECK_PLACE, false, NULL},
	{"media", NULL, CONTENT, CHECK_PLACE, false, NULL},
	{"document_url", NULL, CONTENT, CHECK_DATA_URL, false, NULL},
	{"image_url", NULL, CONTENT, CHECK_DATA_URL, false, NULL},
	{"video_url", NULL, CONTENT, CHECK_DATA_URL, false, NULL},
	{"audio_url", NULL, CONTENT, CHECK_DATA_URL, false, NULL},
	{"file_url", NULL, CONTENT, CHECK_DATA_URL, false, NULL},
	{"file_id", NULL, CONTENT, CHECK_REFUSED, false, hint_inline},
	{"file_ids", NULL, CONTENT, CHECK_REFUSED, false, hint_inline},
};

/* The whole body is content here: requests nest in requests. */
static const struct name_rule gemini_names[] = {
	{"model", NULL, ANY, CHECK_SAME_MODEL, true, NULL},
	{"modelName", "model_name", ANY, CHECK_SAME_MODEL, true, NULL},
	{"tools", NULL, ANY, CHECK_TOOLS, false, NULL},
	{"cachedContent", "cached_content", ANY, CHECK_REFUSED, false, "send the content itself"},
	{"fileData", "file_data", ANY, CHECK_REFUSED, false, hint_inline},
	{"fileUri", "file_uri", ANY, CHECK_REFUSED, false, hint_inline},
	{"generationConfig", "generation_config", ANY, CHECK_SEEN, true, NULL},
	{"maxOutputTokens", "max_output_tokens", ANY, CHECK_SEEN, true, NULL},
	{"candidateCount", "candidate_count", ANY, CHECK_SEEN, true, NULL},
	{"functionCall", "function_call", ANY, CHECK_SEEN, false, NULL},
	{"functionResponse", "function_response", ANY, CHECK_SEEN, false, NULL},
	{"generateContentRequest", "generate_content_request", ANY, CHECK_SEEN, false, NULL},
	{"contents", NULL, ANY, CHECK_SEEN, false, NULL},
	{"parts", NULL, ANY, CHECK_SEEN, false, NULL},
	{"requests", NULL, ANY, CHECK_SEEN, false, NULL},
};

/* Data of the client that only looks like content: the member `key` of an object that stands under `parent`, or whose
 * type is `parent`. */
struct opaque {
	const char *parent, *key;
};

static const struct opaque anthropic_opaque[] = {
	{"tool_use", "input"}, {"server_tool_use", "input"}, {"mcp_tool_use", "input"}};
static const struct opaque gemini_opaque[] = {{"functionCall", "args"},
					      {"functionResponse", "response"},
					      {"generationConfig", "responseSchema"},
					      {"generationConfig", "responseJsonSchema"}};

/* Types of tools that the client runs; `*` as in a glob: versions are dates. Tool search looks only through the tools
 * of the request itself. */
static const char *const anthropic_client[] = {
	"custom", "bash_*", "text_editor_*", "computer_*", "memory_*", "tool_search_tool_*", NULL};
static const char *const openai_client[] = {"function",      "custom",      "local_shell", "apply_patch", "computer",
					    "computer_use*", "tool_search", "namespace",   "shell",       NULL};

static const struct kind_rules {
	const struct name_rule *names;
	size_t n_names;
	const struct opaque *opaque;
	size_t n_opaque;
	const char *const *client_tools;
	const char *content[3]; /* top members that hold content; none: all of the body */
} kinds[] = {
	[PROVIDER_ANTHROPIC] = {anthropic_names,
				ARRAY_LEN(anthropic_names),
				anthropic_opaque,
				ARRAY_LEN(anthropic_opaque),
				anthropic_client,
				{"messages", "system"}},
	[PROVIDER_OPENAI] = {openai_names, ARRAY_LEN(openai_names), NULL, 0, openai_client, {"messages", "input"}},
	[PROVIDER_GEMINI] =
		{gemini_names, ARRAY_LEN(gemini_names), gemini_opaque, ARRAY_LEN(gemini_opaque), NULL, {NULL}},
};

/* The rule that a member's name falls under, or NULL. -1 where it only nearly has that name. */
static int find_rule(const struct judge *j, uint32_t key, enum where where, const struct name_rule **ret)
{
	const struct kind_rules *k = &kinds[j->kind];
	struct sv name = json_scan_text(j->s, key);
	struct text_shown shown;
	size_t i;

	*ret = NULL;
	for (i = 0; i < k->n_names; i++) {
		const struct name_rule *r = &k->names[i];

		if (!(r->where & where) || !spelling_alike(name, r->name))
			continue;
		if (!sv_is(name, r->name) && !(r->other && sv_is(name, r->other)))
			return ruling_set(j->no, RULING_DENIED, hint_name, "%s may be read as %s",
					  text_show(&shown, name), r->name);
		*ret = r;
		return 0;
	}
	return 0;
}

static int refuse_value(const struct judge *j, uint32_t value, const char *name, const char *hint)
{
	struct sv text = json_scan_text(j->s, value);

	if (json_scan_kind(j->s, value) == SCAN_NULL || sv_is(text, "false") || sv_is(text, "[]"))
		return 0;
	return ruling_set(j->no, RULING_DENIED, hint, "%s is not for this sandbox", name);
}

static int refuse_tool(const struct judge *j, struct sv type)
{
	struct text_shown shown;

	return ruling_set(j->no, RULING_DENIED, hint_tools,
			  "the tool %s runs at the provider, and server_tools is deny", text_show(&shown, type));
}

/* Names in the object that could be taken for one of those that are judged there. */
static int check_spelling(const struct judge *j, uint32_t object, const char *const *names)
{
	uint32_t odd = spelling_odd(j->s, object, names);
	struct text_shown shown;

	if (!odd)
		return 0;
	return ruling_set(j->no, RULING_DENIED, hint_name, "%s may be read as another name",
			  text_show(&shown, json_scan_text(j->s, odd)));
}

/* OpenAI's shell runs at the provider unless it says otherwise. */
static bool is_local_shell(const struct judge *j, uint32_t tool)
{
	static const char *const names[] = {"type", NULL};
	uint32_t environment = json_scan_get(j->s, tool, "environment"), type;

	if (!environment || check_spelling(j, environment, names) < 0)
		return false;
	type = json_scan_get(j->s, environment, "type");
	return type && json_scan_is_string(j->s, type, "local");
}

static int check_tool(const struct judge *j, uint32_t tool, unsigned depth);

static int check_tools(const struct judge *j, uint32_t tools, unsigned depth)
{
	uint32_t i;

	if (json_scan_kind(j->s, tools) == SCAN_NULL)
		return 0;
	/* Google reads one tool for a list of one. */
	if (json_scan_kind(j->s, tools) == SCAN_OBJECT)
		return check_tool(j, tools, depth);
	if (json_scan_kind(j->s, tools) != SCAN_ARRAY || depth > 4)
		return ruling_set(j->no, RULING_MALFORMED, "send a list of tools", "tools is no list");
	for (i = json_scan_first(j->s, tools); i; i = json_scan_after(j->s, tools, i))
		if (check_tool(j, i, depth) < 0)
			return -1;
	return 0;
}

/* A tool of Gemini has no type: its members say what it is. */
static int check_gemini_tool(const struct judge *j, uint32_t tool)
{
	static const char *const client[] = {"functionDeclarations", "function_declarations", "computerUse",
					     "computer_use"};
	uint32_t i;
	size_t k;

	for (i = json_scan_first(j->s, tool); i; i = json_scan_after(j->s, tool, i)) {
		for (k = 0; k < ARRAY_LEN(client) && !sv_is(json_scan_text(j->s, i), client[k]); k++)
			;
		if (k == ARRAY_LEN(client))
			return refuse_tool(j, json_scan_text(j->s, i));
	}
	return 0;
}

static int check_tool(const struct judge *j, uint32_t tool, unsigned depth)
{
	static const char *const names[] = {"type", "environment", "tools", "function", NULL};
	const char *const *client = kinds[j->kind].client_tools;
	uint32_t type, nested;

	if (json_scan_kind(j->s, tool) != SCAN_OBJECT)
		return ruling_set(j->no, RULING_MALFORMED, "send a list of tools", "a tool is no object");
	if (j->kind == PROVIDER_GEMINI)
		return check_gemini_tool(j, tool);
	if (check_spelling(j, tool, names) < 0)
		return -1;
	type = json_scan_get(j->s, tool, "type");
	nested = json_scan_get(j->s, tool, "tools");
	if (nested && check_tools(j, nested, depth + 1) < 0)
		return -1;
	if (!type || json_scan_kind(j->s, type) == SCAN_NULL) {
		if (j->kind == PROVIDER_ANTHROPIC || json_scan_get(j->s, tool, "function"))
			return 0;
		return refuse_tool(j, sv_of("without a type"));
	}
	if (json_scan_kind(j->s, type) != SCAN_STRING)
		return ruling_set(j->no, RULING_MALFORMED, "send a type as text", "the type of a tool is no string");
	while (*client && !glob_component(sv_of(*client), json_scan_text(j->s, type)))
		client++;
	if (!*client)
		return refuse_tool(j, json_scan_text(j->s, type));
	if (j->kind == PROVIDER_OPENAI && json_scan_is_string(j->s, type, "shell") && !is_local_shell(j, tool))
		return ruling_set(j->no, RULING_DENIED, "set its environment to {\"type\": \"local\"}",
				  "the tool shell runs at the provider, and server_tools is deny");
	return 0;
}

static bool is_base64(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c && strchr("+/=_-\\", c));
}

static int refuse_fetch(const struct judge *j, const char *name)
{
	return ruling_set(j->no, RULING_DENIED, hint_inline, "the provider would fetch the %s itself", name);
}

/* In canonical text an escape begins with a backslash: line ends within base64 are fine. */
static int check_base64(const struct judge *j, uint32_t value, const char *name)
{
	struct sv text = json_scan_text(j->s, value);
	size_t i;

	if (json_scan_kind(j->s, value) == SCAN_NULL || sv_starts(text, "data:"))
		return 0;
	for (i = 0; i < text.n; i++)
		if (!is_base64(text.p[i]))
			return refuse_fetch(j, name);
	return json_scan_kind(j->s, value) == SCAN_STRING ? 0 : refuse_fetch(j, name);
}

typedef bool text_fn(struct sv text);

static bool is_not_inline(struct sv text)
{
	return text.n != 0;
}

/* A text, or a list of them: none but data: URLs may be what `is` says. */
static int check_texts(const struct judge *j, uint32_t value, text_fn *is, const char *name)
{
	struct sv text = json_scan_text(j->s, value);
	uint32_t i;

	if (json_scan_kind(j->s, value) == SCAN_ARRAY)
		for (i = json_scan_first(j->s, value); i; i = json_scan_after(j->s, value, i))
			if (check_texts(j, i, is, name) < 0)
				return -1;
	if (json_scan_kind(j->s, value) != SCAN_STRING || sv_starts(text, "data:") || !is(text))
		return 0;
	return refuse_fetch(j, name);
}

static int check_source(const struct judge *j, uint32_t source)
{
	static const char *const names[] = {"type", "content", "data", NULL}, *const carried[] = {"base64", "text",
												  "content"};
	struct text_shown shown;
	uint32_t type, data;
	size_t i;

	/* Of a search result: the name of a place, which no one visits. */
	if (json_scan_kind(j->s, source) == SCAN_STRING)
		return 0;
	if (check_spelling(j, source, names) < 0)
		return -1;
	type = json_scan_get(j->s, source, "type");
	data = json_scan_get(j->s, source, "data");
	if (json_scan_get(j->s, source, "url"))
		return refuse_fetch(j, "source");
	if (type && data && json_scan_is_string(j->s, type, "base64") && check_base64(j, data, "source") < 0)
		return -1;
	for (i = 0; type && i < ARRAY_LEN(carried); i++)
		if (json_scan_is_string(j->s, type, carried[i]))
			return 0;
	return ruling_set(j->no, RULING_DENIED, hint_inline, "the provider would fetch a source of type %s itself",
			  type ? text_show(&shown, json_scan_text(j->s, type)) : "(none)");
}

static int check_data_url(const struct judge *j, uint32_t value, const char *name)
{
	static const char *const names[] = {"url", NULL};

	if (json_scan_kind(j->s, value) == SCAN_NULL)
		return 0;
	if (json_scan_kind(j->s, value) == SCAN_OBJECT) {
		if (check_spelling(j, value, names) < 0)
			return -1;
		value = json_scan_get(j->s, value, "url");
	}
	if (value && json_scan_kind(j->s, value) == SCAN_STRING && sv_starts(json_scan_text(j->s, value), "data:"))
		return 0;
	return refuse_fetch(j, name);
}

static int check_same_model(const struct judge *j, uint32_t value)
{
	struct sv name = json_scan_text(j->s, value);

	if (sv_starts(name, "models/"))
		name = sv_n(name.p + 7, name.n - 7);
	if (json_scan_kind(j->s, value) == SCAN_STRING && sv_is(name, j->model))
		return 0;
	return ruling_set(j->no, RULING_DENIED, "name the model of the path, or none", "the body names another model");
}

static int apply(const struct judge *j, const struct name_rule *r, uint32_t value)
{
	if (!r->always && !j->deny_tools)
		return 0;
	switch (r->check) {
	case CHECK_SEEN:
		return 0;
	case CHECK_REFUSED:
		return refuse_value(j, value, r->name, r->hint);
	case CHECK_TOOLS:
		return check_tools(j, value, 0);
	case CHECK_SOURCE:
		return check_source(j, value);
	case CHECK_DATA_URL:
		return check_data_url(j, value, r->name);
	case CHECK_BASE64:
		return check_base64(j, value, r->name);
	case CHECK_MEDIA:
		return check_texts(j, value, place_has_scheme, r->name);
	case CHECK_PLACE:
		return check_texts(j, value, place_is_url, r->name);
	case CHECK_SAME_MODEL:
		return check_same_model(j, value);
	case CHECK_TEXT:
		break;
	}
	return json_scan_kind(j->s, value) == SCAN_OBJECT ? refuse_value(j, value, r->name, r->hint) : 0;
}

/* `parent` is the key that the object stands under, `type` its member of that name or 0. */
static bool is_opaque(const struct judge *j, uint32_t type, struct sv parent, uint32_t key)
{
	const struct kind_rules *k = &kinds[j->kind];
	size_t i;

	for (i = 0; i < k->n_opaque; i++)
		if (spelling_alike(json_scan_text(j->s, key), k->opaque[i].key) &&
		    (spelling_alike(parent, k->opaque[i].parent) ||
		     (type && json_scan_is_string(j->s, type, k->opaque[i].parent))))
			return true;
	return false;
}

/* A picture, a recording or a file, by the name that it stands under or by its type. */
static bool is_media(struct sv name)
{
	static const char *const parts[] = {"image", "video", "audio"}, *const names[] = {"file",       "files",
											  "document",   "documents",
											  "media",      "pdf",
											  "picture",    "photo",
											  "screenshot", "img",
											  "frame",      "frames",
											  "clip",       "attachment",
											  "attachments"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(parts); i++)
		if (spelling_has(name, parts[i]))
			return true;
	if (sv_starts(name, "input_"))
		name = sv_n(name.p + 6, name.n - 6);
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (spelling_alike(name, names[i]))
			return true;
	return false;
}

/* What is said of something, to be read. */
static bool is_words(struct sv name)
{
	static const char *const names[] = {"text", "title", "caption", "description", "alt", "context"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (sv_is(name, names[i]))
			return true;
	return false;
}

/* Of something that is one: whatever is called after a URL says where it is, and must bring it along; and so must what
 * is a URL, whatever it is called. */
static int check_media_member(const struct judge *j, uint32_t key)
{
	static const char *const ends[] = {"url", "uri", "href"};
	struct sv name = json_scan_text(j->s, key);
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends); i++)
		if (spelling_ends(name, ends[i]))
			return check_texts(j, key + 1, is_not_inline, "content");
	return is_words(name) ? 0 : check_texts(j, key + 1, place_is_url, "content");
}

/* media: the object is one. */
static int check_member(const struct judge *j, uint32_t key, bool media)
{
	if (!j->deny_tools || j->kind != PROVIDER_OPENAI)
		return 0;
	if (media)
		return check_media_member(j, key);
	return is_media(json_scan_text(j->s, key)) ? check_texts(j, key + 1, place_is_url, "content") : 0;
}

/* All of the content below `value`; as deep as a scan is. media: it stands in one. */
static int walk(const struct judge *j, uint32_t value, struct sv parent, bool media)
{
	bool object = json_scan_kind(j->s, value) == SCAN_OBJECT;
	uint32_t i, type = json_scan_get(j->s, value, "type");
	const struct name_rule *rule;

	if (object && j->kind == PROVIDER_OPENAI)
		media = media || is_media(parent) || (type && is_media(json_scan_text(j->s, type)));

	for (i = json_scan_first(j->s, value); i; i = json_scan_after(j->s, value, i)) {
		if (!object) {
			if (walk(j, i, parent, media) < 0)
				return -1;
			continue;
		}
		if (is_opaque(j, type, parent, i))
			continue;
		if (find_rule(j, i, CONTENT, &rule) < 0 || (rule && apply(j, rule, i + 1) < 0))
			return -1;
		if (rule && rule->check == CHECK_TOOLS)
			continue;
		if (check_member(j, i, media) < 0)
			return -1;
		if (walk(j, i + 1, json_scan_text(j->s, i), media) < 0)
			return -1;
	}
	return 0;
}

int judge_top_names(const struct judge *j)
{
	const struct name_rule *rule;
	uint32_t i;

	for (i = json_scan_first(j->s, 0); i; i = json_scan_after(j->s, 0, i))
		if (find_rule(j, i, TOP, &rule) < 0)
			return -1;
	return 0;
}

int judge_rules(const struct judge *j)
{
	const char *const *name = kinds[j->kind].content;
	const struct name_rule *rule;
	uint32_t i, content;

	if (judge_model_name(j) < 0 || judge_elsewhere(j) < 0)
		return -1;
	if (!*name)
		return walk(j, 0, sv_n("", 0), false);
	for (i = json_scan_first(j->s, 0); i; i = json_scan_after(j->s, 0, i))
		if (find_rule(j, i, TOP, &rule) < 0 || (rule && apply(j, rule, i + 1) < 0))
			return -1;
	for (; j->deny_tools && *name; name++) {
		content = json_scan_get(j->s, 0, *name);
		if (content && walk(j, content, sv_of(*name), false) < 0)
			return -1;
	}
	return 0;
}
