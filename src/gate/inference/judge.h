/*
 * judge: may this request go to a model, to which provider, and as which bytes?
 *
 * Used twice for each request, by the relay and again by egress, with the same policy and the same answer. First the
 * head (judge_head), before a byte of the body is taken; then the whole collected body (judge_body), which is rewritten
 * in place in canonical form (json_scan.h): those bytes are sent, nothing else.
 *
 * Judged always:
 *
 * - the endpoint (endpoint.h), the type of the body, and the model's name: a string, matched case-sensitively and as a
 *   whole against the `models` of the provider that `routes` choose (the first that matches; else the one whose base
 *   URL was used). A route to a provider that is not there, or of another kind, is a no: a name that was to stay on a
 *   local server must not leave by mistake;
 * - a second model, or another server (judge_elsewhere.h): `models`, `fallbacks`, `preset`, `api_base` and their like;
 *   another `model` or `modelName` in a Gemini body;
 * - `background` of OpenAI: its reply comes without usage, so nothing could be counted. (`store`,
 *   `previous_response_id` and `conversation` pass: they keep text at the provider that had it anyway, run nothing and
 *   fetch nothing, and what they name was judged when it was sent. Endpoints that read or change stored things are
 *   refused.)
 *
 * With `server_tools: deny` further:
 *
 * - models that search by themselves (OpenAI's *-search-preview and *-search-api, OpenRouter's *:online, Venice's
 *   *:enable_web_search=on);
 * - tools that the provider runs. Only what is known to run at the client passes, so a tool that is new tomorrow is
 *   refused tomorrow. MCP connectors, containers, search options, stored prompts (which carry tools of their own) and
 *   cached contents are refused alike;
 * - sources that the provider would fetch: URLs other than data:, and files by id or URI, wherever a message can hold
 *   one. Arguments of tool calls and schemas are the client's own data and are not looked into.
 *
 * Names that a careless parser would take for a judged one (spelling.h: "Model" is "model" to Go) are refused wherever
 * the judged name would count.
 *
 * OpenAI streams get `stream_options.include_usage: true` here, the only edit. The relay takes the event that it brings
 * out of the answer to a client that had not asked for it (usage_strip.h).
 *
 * The policy must outlive struct judged. No state, no I/O.
 */
#ifndef CORDON_GATE_INFERENCE_JUDGE_H
#define CORDON_GATE_INFERENCE_JUDGE_H

#include "gate/inference/endpoint.h"
#include "base/json_scan.h"
#include "http/message.h"

struct judged {
	const struct provider *provider; /* where it goes */
	const struct endpoint *endpoint;
	char model[ENDPOINT_MAX_MODEL + 1]; /* empty: none is named (a list of models) */
	bool stream;
	bool usage_added;    /* to a stream, by an edit: the client does not expect the event that comes of it
				(usage_strip.h) */
	uint64_t output_max; /* tokens that the reply may have (output.h); known with the body */
	char target[ENDPOINT_MAX_TARGET]; /* of the upstream: path and query */
};

/*
 * req->target is relative to the provider's base URL. 0, or -1 and the ruling. Where ret->endpoint->body, the body is
 * to be collected, at most SCAN_MAX_BYTES, and judge_body() has the last word; else the request is judged.
 */
int judge_head(const struct pol_inference *policy, const struct provider *provider, const struct http_request *req,
	       struct judged *ret, struct ruling *no);

/* Rewrites the body, and completes *io (from judge_head with the same req). After a failure the body is of no use. */
int judge_body(const struct pol_inference *policy, const struct http_request *req, struct buf *body, struct judged *io,
	       struct ruling *no);

#endif
