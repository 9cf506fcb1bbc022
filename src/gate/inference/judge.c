#include "gate/inference/judge.h"

#include <stdio.h>

#include "base/text.h"
#include "gate/inference/body.h"
#include "gate/inference/judge_rules.h"
#include "gate/inference/models.h"
#include "gate/inference/output.h"
#include "gate/inference/spelling.h"

/* One cut in the text: `cut` bytes at `at` give way to `put`. */
struct splice {
	size_t at, cut;
	const char *put;
};

static int check_fields(const struct http_request *req, const struct endpoint *e, struct ruling *no)
{
	static const char *const types[] = {"application/json", NULL};

	if (req->websocket)
		return ruling_set(no, RULING_DENIED, "send an ordinary request", "models are not reached by WebSocket");
	if (e->body != req->body)
		return ruling_set(no, RULING_MALFORMED, e->body ? "send a JSON object" : "send none",
				  "this endpoint takes %s body", e->body ? "a" : "no");
	if (req->length > SCAN_MAX_BYTES)
		return ruling_set(no, RULING_TOO_LARGE, "send less at a time", "the body has more than %d bytes",
				  SCAN_MAX_BYTES);
	return e->body ? body_type(&req->fields, types, no) : 0;
}

static int set_model(const struct pol_inference *inf, struct sv model, struct judged *io, struct ruling *no)
{
	struct text_shown shown;

	if (!endpoint_model_ok(model))
		return ruling_set(no, RULING_MALFORMED, "name a model", "%s is not a model's name",
				  text_show(&shown, model));
	if (models_choose(inf, model, &io->provider, no) < 0)
		return -1;
	(void)snprintf(io->model, sizeof(io->model), "%.*s", (int)model.n, model.p);
	return 0;
}

static int set_target(const struct http_request *req, struct judged *io, struct ruling *no)
{
	AUTO_BUF out = {0};

	buf_init(&out, sizeof(io->target) - 1);
	endpoint_target(io->provider->url.s, req->target, &out);
	if (buf_failed(&out) < 0)
		return ruling_set(no, RULING_MALFORMED, "shorten it", "the path and query are too long");
	(void)snprintf(io->target, sizeof(io->target), "%s", out.p);
	return 0;
}

int judge_head(const struct pol_inference *policy, const struct provider *provider, const struct http_request *req,
	       struct judged *ret, struct ruling *no)
{
	struct judged j = {.provider = provider};
	struct endpoint_match match;

	if (endpoint_find((enum provider_kind)provider->kind.v, req->method, req->target, &match, no) < 0 ||
	    check_fields(req, match.endpoint, no) < 0)
		return -1;
	j.endpoint = match.endpoint;
	j.stream = match.endpoint->stream;
	if (match.model.n && set_model(policy, match.model, &j, no) < 0)
		return -1;
	if (set_target(req, &j, no) < 0)
		return -1;
	*ret = j;
	return 0;
}

/* A truth that only some parsers see ("stream": "yes") is none. */
static int read_bool(const struct json_scan *s, uint32_t of, const char *key, bool *ret, struct ruling *no)
{
	uint32_t i = json_scan_get(s, of, key);

	*ret = false;
	if (!i || json_scan_kind(s, i) == SCAN_NULL)
		return 0;
	if (json_scan_kind(s, i) != SCAN_BOOL)
		return ruling_set(no, RULING_MALFORMED, "write true or false", "%s is no boolean", key);
	*ret = sv_is(json_scan_text(s, i), "true");
	return 0;
}

/* How to have usage in a stream of OpenAI: *ret stays empty where it is asked for already. */
static int want_usage(const struct json_scan *s, struct splice *ret, struct ruling *no)
{
	static const char *const names[] = {"include_usage", NULL};
	uint32_t options = json_scan_get(s, 0, "stream_options"), usage;
	const struct scan_node *v = s->v;

	*ret = (struct splice){.put = ""};
	if (!options)
		*ret = (struct splice){v[0].at + v[0].len - 1, 0, ",\"stream_options\":{\"include_usage\":true}"};
	else if (json_scan_kind(s, options) == SCAN_NULL)
		*ret = (struct splice){v[options].at, v[options].len, "{\"include_usage\":true}"};
	if (!options || json_scan_kind(s, options) == SCAN_NULL)
		return 0;
	if (json_scan_kind(s, options) != SCAN_OBJECT)
		return ruling_set(no, RULING_MALFORMED, "send an object", "stream_options is no object");
	if (spelling_odd(s, options, names))
		return ruling_set(no, RULING_DENIED, "spell it as the provider does",
				  "a name may be read as include_usage");
	usage = json_scan_get(s, options, "include_usage");
	if (usage && json_scan_kind(s, usage) == SCAN_BOOL && sv_is(json_scan_text(s, usage), "true"))
		return 0;
	if (usage)
		*ret = (struct splice){v[usage].at - (json_scan_kind(s, usage) == SCAN_STRING ? 1 : 0),
				       v[usage].len + (json_scan_kind(s, usage) == SCAN_STRING ? 2 : 0), "true"};
	else
		*ret = (struct splice){v[options].at + 1, 0,
				       v[options].len > 2 ? "\"include_usage\":true," : "\"include_usage\":true"};
	return 0;
}

static int apply_splice(struct buf *body, const struct splice *c)
{
	size_t put = strlen(c->put), tail = body->n - c->at - c->cut;
	int r;

	/* Room at the end first; what is added there is overwritten. */
	if (put > c->cut) {
		r = buf_add(body, c->put, put - c->cut);
		if (r < 0)
			return r;
	} else {
		body->n -= c->cut - put;
	}
	memmove(body->p + c->at + put, body->p + c->at + c->cut, tail);
	memcpy(body->p + c->at, c->put, put);
	body->p[body->n] = '\0';
	return 0;
}

static int judge_scan(const struct pol_inference *policy, const struct json_scan *s, struct judged *io,
		      struct splice *cut, struct ruling *no)
{
	struct judge j = {.s = s, .kind = io->endpoint->kind, .no = no};
	uint32_t model;

	if (json_scan_kind(s, 0) != SCAN_OBJECT)
		return ruling_set(no, RULING_MALFORMED, "send one JSON object", "the body is no object");
	if (judge_top_names(&j) < 0)
		return -1;
	if (j.kind != PROVIDER_GEMINI) {
		model = json_scan_get(s, 0, "model");
		if (!model || json_scan_kind(s, model) != SCAN_STRING)
			return ruling_set(no, RULING_MALFORMED, "name a model",
					  "the body has no model that is a string");
		if (set_model(policy, json_scan_text(s, model), io, no) < 0 ||
		    read_bool(s, 0, "stream", &io->stream, no) < 0)
			return -1;
	}
	if (output_max(s, io->endpoint->op, &io->output_max, no) < 0)
		return -1;
	j.model = io->model;
	j.policy = policy;
	j.provider = io->provider;
	j.deny_tools = io->provider->server_tools.v != SERVER_TOOLS_ALLOW;
	if (judge_rules(&j) < 0)
		return -1;
	if (io->stream && (io->endpoint->op == OP_CHAT || io->endpoint->op == OP_COMPLETIONS))
		return want_usage(s, cut, no);
	return 0;
}

int judge_body(const struct pol_inference *policy, const struct http_request *req, struct buf *body, struct judged *io,
	       struct ruling *no)
{
	AUTO_SCAN s = {0};
	struct splice cut = {.put = ""};
	struct judged j = *io;

	if (body_scan(body, &s, no) < 0 || judge_scan(policy, &s, &j, &cut, no) < 0 || set_target(req, &j, no) < 0)
		return -1;
	if (apply_splice(body, &cut) < 0)
		return ruling_set(no, RULING_TOO_LARGE, "send less at a time", "the body is too large");
	j.usage_added = cut.put[0] != '\0';
	*io = j;
	return 0;
}
