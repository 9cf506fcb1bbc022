#include "base/cleanup.h"
#include "base/glob.h"
#include "base/text.h"
#include "gate/inference/body.h"
#include "gate/inference/rpc.h"
#include "gate/inference/rpc_parts.h"
#include "gate/inference/spelling.h"

static const char hint_message[] = "send JSON-RPC 2.0 messages";

/* A string that is its own canonical text, so that it can be compared; else n == 0. */
static struct sv plain_string(const struct json_scan *s, uint32_t i)
{
	struct sv text = i ? json_scan_text(s, i) : sv_n("", 0);

	if (!i || json_scan_kind(s, i) != SCAN_STRING || memchr(text.p, '\\', text.n))
		return sv_n("", 0);
	return text;
}

static int judge_call(const struct net_mcp *rule, const struct json_scan *s, uint32_t message, struct ruling *no)
{
	static const char *const names[] = {"name", NULL};
	uint32_t params = json_scan_get(s, message, "params");
	struct text_shown shown;
	struct sv tool;

	if (!params || json_scan_kind(s, params) != SCAN_OBJECT || spelling_odd(s, params, names))
		return ruling_set(no, RULING_MALFORMED, hint_message, "tools/call has no params that can be judged");
	tool = plain_string(s, json_scan_get(s, params, "name"));
	if (tool.n == 0)
		return ruling_set(no, RULING_MALFORMED, hint_message, "tools/call names no tool");
	if (!rpc_listed(&rule->tools, tool))
		return ruling_set(no, RULING_DENIED, "use a tool that the policy allows", "the tool %s is not allowed",
				  text_show(&shown, tool));
	return 0;
}

static bool method_allowed(const struct net_mcp *rule, struct sv method)
{
	static const char *const session[] = {"initialize", "ping", "tools/list", "notifications/*"};
	size_t i;

	if (rule->methods.set || rule->methods.n || !rule->tools.set)
		return rpc_listed(&rule->methods, method);
	for (i = 0; i < ARRAY_LEN(session); i++)
		if (glob_component(sv_of(session[i]), method))
			return true;
	return false;
}

static int judge_message(const struct net_mcp *rule, const struct json_scan *s, uint32_t message, struct ruling *no)
{
	static const char *const names[] = {"jsonrpc", "method", "params", "id", "result", "error", NULL};
	uint32_t method = json_scan_get(s, message, "method");
	struct text_shown shown;
	struct sv name;

	if (json_scan_kind(s, message) != SCAN_OBJECT)
		return ruling_set(no, RULING_MALFORMED, hint_message, "a message is no object");
	if (spelling_odd(s, message, names))
		return ruling_set(no, RULING_MALFORMED, hint_message, "a member of a message is spelled oddly");
	if (!method) {
		if (json_scan_get(s, message, "result") || json_scan_get(s, message, "error"))
			return 0;
		return ruling_set(no, RULING_MALFORMED, hint_message, "a message has no method");
	}
	name = plain_string(s, method);
	if (name.n == 0)
		return ruling_set(no, RULING_MALFORMED, hint_message, "a method is no plain string");
	if (sv_is(name, "tools/call") && rule->tools.set)
		return judge_call(rule, s, message, no);
	if (!method_allowed(rule, name))
		return ruling_set(no, RULING_DENIED, "use a method that the policy allows",
				  "the method %s is not allowed", text_show(&shown, name));
	return 0;
}

static int judge_text(const struct net_mcp *rule, struct buf *body, struct ruling *no)
{
	AUTO_SCAN s = {0};
	uint32_t i;

	if (body_scan(body, &s, no) < 0)
		return -1;
	if (json_scan_kind(&s, 0) != SCAN_ARRAY)
		return judge_message(rule, &s, 0, no);
	if (!json_scan_first(&s, 0))
		return ruling_set(no, RULING_MALFORMED, hint_message, "the list of messages is empty");
	for (i = json_scan_first(&s, 0); i; i = json_scan_after(&s, 0, i))
		if (judge_message(rule, &s, i, no) < 0)
			return -1;
	return 0;
}

/* Has it nothing to judge? */
static bool is_of_session(const struct http_request *req, const struct buf *body)
{
	return body->n == 0 && !req->body && !req->websocket &&
	       (sv_is(req->method, "GET") || sv_is(req->method, "DELETE"));
}

int rpc_judge_mcp(const struct net_rule *rule, const struct http_request *req, struct buf *body, struct ruling *no)
{
	static const char *const types[] = {"application/json", NULL};

	if (is_of_session(req, body) && rule->paths.n)
		return 0;
	if (is_of_session(req, body))
		return ruling_set(no, RULING_DENIED, "name the server's endpoint under paths of the rule",
				  "the rule for MCP names no paths: GET and DELETE would be open on all of them");
	if (!sv_is(req->method, "POST"))
		return ruling_set(no, RULING_DENIED, "send messages by POST",
				  "messages cannot be judged in this request");
	if (body_type(&req->fields, types, no) < 0)
		return -1;
	return judge_text(&rule->mcp, body, no);
}
