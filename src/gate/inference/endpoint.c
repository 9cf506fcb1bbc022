#include "gate/inference/endpoint.h"

#include "base/cleanup.h"
#include "base/text.h"

static const struct endpoint endpoints[] = {
	{PROVIDER_ANTHROPIC, OP_MESSAGES, "POST", "/v1/messages", true, false},
	{PROVIDER_ANTHROPIC, OP_COUNT, "POST", "/v1/messages/count_tokens", true, false},
	{PROVIDER_ANTHROPIC, OP_MODELS, "GET", "/v1/models", false, false},
	{PROVIDER_ANTHROPIC, OP_MODELS, "GET", "/v1/models/{model}", false, false},

	{PROVIDER_OPENAI, OP_CHAT, "POST", "/v1/chat/completions", true, false},
	{PROVIDER_OPENAI, OP_COMPLETIONS, "POST", "/v1/completions", true, false},
	{PROVIDER_OPENAI, OP_EMBEDDINGS, "POST", "/v1/embeddings", true, false},
	{PROVIDER_OPENAI, OP_RESPONSES, "POST", "/v1/responses", true, false},
	{PROVIDER_OPENAI, OP_COMPACT, "POST", "/v1/responses/compact", true, false},
	{PROVIDER_OPENAI, OP_COUNT, "POST", "/v1/responses/input_tokens", true, false},
	{PROVIDER_OPENAI, OP_MODELS, "GET", "/v1/models", false, false},
	{PROVIDER_OPENAI, OP_MODELS, "GET", "/v1/models/{model}", false, false},

	{PROVIDER_GEMINI, OP_GENERATE, "POST", "/v1beta/models/{model}:generateContent", true, false},
	{PROVIDER_GEMINI, OP_GENERATE, "POST", "/v1beta/models/{model}:streamGenerateContent", true, true},
	{PROVIDER_GEMINI, OP_COUNT, "POST", "/v1beta/models/{model}:countTokens", true, false},
	{PROVIDER_GEMINI, OP_EMBED, "POST", "/v1beta/models/{model}:embedContent", true, false},
	{PROVIDER_GEMINI, OP_EMBED, "POST", "/v1beta/models/{model}:batchEmbedContents", true, false},
	{PROVIDER_GEMINI, OP_MODELS, "GET", "/v1beta/models", false, false},
	{PROVIDER_GEMINI, OP_MODELS, "GET", "/v1beta/models/{model}", false, false},
};

static const char no_files[] = "send the content inline, as base64, in the request itself",
		  no_batch[] = "send the requests one by one",
		  no_state[] = "send the whole conversation in each request",
		  no_hosted[] = "run tools inside the sandbox and send their results";

/* What people ask for that is refused, by the start of its path: why a hint and not just a no. */
static const struct {
	enum provider_kind kind;
	const char *start;
	const char *hint;
} refused[] = {
	{PROVIDER_ANTHROPIC, "/v1/messages/batches", no_batch},
	{PROVIDER_ANTHROPIC, "/v1/files", no_files},
	{PROVIDER_ANTHROPIC, "/v1/skills", no_hosted},
	{PROVIDER_ANTHROPIC, "/v1/complete", "use POST /v1/messages"},
	{PROVIDER_ANTHROPIC, "/messages", "the path starts with /v1; use the base URL in the environment as it is"},
	{PROVIDER_OPENAI, "/v1/files", no_files},
	{PROVIDER_OPENAI, "/v1/uploads", no_files},
	{PROVIDER_OPENAI, "/v1/batches", no_batch},
	{PROVIDER_OPENAI, "/v1/assistants", no_hosted},
	{PROVIDER_OPENAI, "/v1/threads", no_state},
	{PROVIDER_OPENAI, "/v1/conversations", no_state},
	{PROVIDER_OPENAI, "/v1/responses/", no_state},
	{PROVIDER_OPENAI, "/v1/vector_stores", no_hosted},
	{PROVIDER_OPENAI, "/v1/containers", no_hosted},
	{PROVIDER_OPENAI, "/v1/fine_tuning", "use a model that is there"},
	{PROVIDER_OPENAI, "/v1/realtime", "use POST /v1/responses or /v1/chat/completions"},
	{PROVIDER_OPENAI, "/api/", "of Ollama, use the OpenAI endpoints under /v1"},
	{PROVIDER_OPENAI, "/chat/", "the path starts with /v1; use the base URL in the environment as it is"},
	{PROVIDER_GEMINI, "/v1beta/files", no_files},
	{PROVIDER_GEMINI, "/upload/", no_files},
	{PROVIDER_GEMINI, "/v1beta/cachedContents", no_state},
	{PROVIDER_GEMINI, "/v1beta/tunedModels", "use a model that is there"},
	{PROVIDER_GEMINI, "/v1beta/batches", no_batch},
};

enum { PARAMETER_MAX = 128 };

static const struct {
	const char *name;
	const char *values[3]; /* none: any plain value */
	bool list;             /* only of a list of models */
	bool number;
} parameters[] = {
	{"beta", {"true", "false"}, false, false},
	{"alt", {"sse", "json"}, false, false},
	{"api-version", {0}, false, false},
	{"limit", {0}, true, true},
	{"after_id", {0}, true, false},
	{"before_id", {0}, true, false},
	{"pageSize", {0}, true, true},
	{"pageToken", {0}, true, false},
};

/* One parameter of a query, cut at "&" and "=". */
struct parameter {
	struct sv whole, name, value;
};

static struct sv path_of(struct sv target)
{
	const char *q = memchr(target.p, '?', target.n);

	return q ? sv_n(target.p, (size_t)(q - target.p)) : target;
}

static bool next_parameter(struct sv *rest, struct parameter *ret)
{
	const char *end, *eq;

	while (rest->n && *rest->p == '&')
		*rest = sv_n(rest->p + 1, rest->n - 1);
	if (rest->n == 0)
		return false;
	end = memchr(rest->p, '&', rest->n);
	ret->whole = sv_n(rest->p, end ? (size_t)(end - rest->p) : rest->n);
	*rest = sv_n(rest->p + ret->whole.n, rest->n - ret->whole.n);
	eq = memchr(ret->whole.p, '=', ret->whole.n);
	ret->name = eq ? sv_n(ret->whole.p, (size_t)(eq - ret->whole.p)) : ret->whole;
	ret->value = eq ? sv_n(eq + 1, ret->whole.n - ret->name.n - 1) : sv_n("", 0);
	return true;
}

static struct sv query_of(struct sv target)
{
	struct sv path = path_of(target);

	return path.n < target.n ? sv_n(target.p + path.n + 1, target.n - path.n - 1) : sv_n("", 0);
}

static bool is_plain(struct sv s, bool number)
{
	static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~=";
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!memchr(plain, s.p[i], number ? 10 : sizeof(plain) - 1))
			return false;
	return s.n <= PARAMETER_MAX;
}

static bool parameter_ok(const struct endpoint *e, const struct parameter *p)
{
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(parameters); i++) {
		if (!sv_is(p->name, parameters[i].name))
			continue;
		if (parameters[i].list && (e->op != OP_MODELS || strstr(e->path, "{model}")))
			return false;
		if (!parameters[i].values[0])
			return is_plain(p->value, parameters[i].number);
		for (k = 0; parameters[i].values[k]; k++)
			if (sv_is(p->value, parameters[i].values[k]))
				return true;
	}
	return false;
}

/* Each parameter is listed and there once: which of two a server takes is its secret. */
static int check_query(const struct endpoint *e, struct sv target, struct ruling *no)
{
	struct sv rest = query_of(target), before;
	struct parameter p, q;
	struct text_shown shown;

	while (next_parameter(&rest, &p)) {
		if (sv_is(p.name, "key"))
			continue;
		if (!parameter_ok(e, &p))
			return ruling_set(no, RULING_DENIED, "leave it out", "the query parameter %s does not pass",
					  text_show(&shown, p.whole));
		for (before = query_of(target); next_parameter(&before, &q) && q.whole.p < p.whole.p;)
			if (sv_eq(q.name, p.name))
				return ruling_set(no, RULING_MALFORMED, "give it once",
						  "the query parameter %s is there twice", text_show(&shown, p.name));
	}
	return 0;
}

bool endpoint_model_ok(struct sv name)
{
	size_t i, from = 0;
	struct sv part;

	if (name.n == 0 || name.n > ENDPOINT_MAX_MODEL)
		return false;
	for (i = 0; i <= name.n; i++) {
		if (i == name.n || name.p[i] == '/') {
			part = sv_n(name.p + from, i - from);
			if (part.n == 0 || sv_is(part, ".") || sv_is(part, ".."))
				return false;
			from = i + 1;
		} else if (name.p[i] <= ' ' || name.p[i] >= 0x7f || strchr("\"\\%", name.p[i])) {
			return false;
		}
	}
	return true;
}

/* Matches the whole path; the part that "{model}" stands for goes to *ret. */
static bool path_matches(const char *pattern, struct sv path, struct sv *ret)
{
	const char *hole = strstr(pattern, "{model}"), *tail;
	size_t head;

	*ret = sv_n("", 0);
	if (!hole)
		return sv_is(path, pattern);
	head = (size_t)(hole - pattern);
	tail = hole + strlen("{model}");
	if (path.n <= head + strlen(tail) || memcmp(path.p, pattern, head) != 0 || !sv_ends(path, tail))
		return false;
	*ret = sv_n(path.p + head, path.n - head - strlen(tail));
	/* At Gemini ":" starts the verb and "/" another collection. */
	if (strncmp(pattern, "/v1beta/", 8) == 0 && (memchr(ret->p, ':', ret->n) || memchr(ret->p, '/', ret->n)))
		return false;
	return endpoint_model_ok(*ret) && !memchr(ret->p, '?', ret->n) && !memchr(ret->p, '#', ret->n);
}

static const char *hint_for(enum provider_kind kind, struct sv path)
{
	static const char *const general[] = {
		[PROVIDER_ANTHROPIC] = "POST /v1/messages and GET /v1/models are there",
		[PROVIDER_OPENAI] =
			"/v1/chat/completions, /v1/responses, /v1/completions, /v1/embeddings and /v1/models are there",
		[PROVIDER_GEMINI] = "generateContent, streamGenerateContent, countTokens and embedContent are there",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(refused); i++)
		if (refused[i].kind == kind && sv_starts(path, refused[i].start))
			return refused[i].hint;
	return general[kind];
}

/* "/v1/" and "/v1alpha/" of Gemini are judged as "/v1beta/": the same methods in other states of maturity. */
static bool gemini_path(struct sv path, struct buf *out)
{
	static const char *const versions[] = {"/v1/", "/v1alpha/"};
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(versions); i++) {
		n = strlen(versions[i]);
		if (!sv_starts(path, versions[i]))
			continue;
		(void)buf_str(out, "/v1beta/");
		(void)buf_add(out, path.p + n, path.n - n);
		return buf_failed(out) == 0;
	}
	return false;
}

int endpoint_find(enum provider_kind kind, struct sv method, struct sv target, struct endpoint_match *ret,
		  struct ruling *no)
{
	struct sv path = path_of(target), judged = path, model;
	AUTO_BUF beta = {0};
	struct text_shown a, b;
	size_t i;

	buf_init(&beta, ENDPOINT_MAX_TARGET);
	if (target.n > ENDPOINT_MAX_TARGET / 2)
		return ruling_set(no, RULING_MALFORMED, "shorten it", "the path and query are too long");
	if (kind == PROVIDER_GEMINI && gemini_path(path, &beta))
		judged = buf_view(&beta);
	for (i = 0; i < ARRAY_LEN(endpoints); i++) {
		const struct endpoint *e = &endpoints[i];

		if (e->kind != kind || !sv_is(method, e->method) || !path_matches(e->path, judged, &model))
			continue;
		if (check_query(e, target, no) < 0)
			return -1;
		/* The path's end is the same in either version: borrow from the caller's target. */
		if (model.n && judged.p != path.p)
			model.p = path.p + path.n - (size_t)(judged.p + judged.n - model.p);
		*ret = (struct endpoint_match){e, model};
		return 0;
	}
	return ruling_set(no, RULING_DENIED, hint_for(kind, judged), "%s %s is no endpoint for models",
			  text_show(&a, method), text_show(&b, path));
}

void endpoint_target(const char *url, struct sv target, struct buf *out)
{
	const char *host = strstr(url, "://"), *slash = strchr(host ? host + 3 : url, '/');
	struct sv base = slash ? sv_of(slash) : sv_n("", 0), path = path_of(target), rest = query_of(target);
	struct parameter p;
	const char *second;
	size_t last;
	char sep = '?';

	while (base.n && base.p[base.n - 1] == '/')
		base.n--;
	for (last = base.n; last > 0 && base.p[last - 1] != '/'; last--)
		;
	second = path.n > 1 ? memchr(path.p + 1, '/', path.n - 1) : NULL;
	if (last && second &&
	    sv_eq(sv_n(base.p + last - 1, base.n - last + 1), sv_n(path.p, (size_t)(second - path.p))))
		base.n = last - 1;
	(void)buf_sv(out, base);
	(void)buf_sv(out, path);
	while (next_parameter(&rest, &p)) {
		if (sv_is(p.name, "key"))
			continue;
		(void)buf_char(out, sep);
		(void)buf_sv(out, p.whole);
		sep = '&';
	}
}
