#include "gate/inference/rpc_rules.h"

#include "base/cleanup.h"
#include "base/json_scan.h"
#include "gate/inference/body.h"
#include "gate/inference/rpc.h"

static bool has_graphql(const struct net_rule *r)
{
	return r->graphql.types.set || r->graphql.operations.set;
}

static bool has_mcp(const struct net_rule *r)
{
	return r->mcp.tools.set || r->mcp.methods.set;
}

/* Holds a copy to one rule: what it has refused is of no use to the next. */
static int judge(const struct net_rule *r, const struct http_request *req, struct buf *body, struct ruling *no)
{
	AUTO_BUF copy = {0};
	struct buf old;

	if (req->websocket)
		return ruling_set(no, RULING_DENIED, "send ordinary requests",
				  "what goes through a websocket cannot be held to graphql or mcp");
	buf_init(&copy, SCAN_MAX_BYTES);
	if (buf_sv(&copy, buf_view(body)) < 0)
		return ruling_set(no, RULING_MEMORY, "try again later", "out of memory");
	if (has_graphql(r) && rpc_judge_graphql(&r->graphql, req, &copy, no) < 0)
		return -1;
	if (has_mcp(r) && rpc_judge_mcp(r, req, &copy, no) < 0)
		return -1;
	if (copy.n) {
		old = *body;
		*body = copy;
		copy = old;
	}
	return 0;
}

/* Is the credential given by a rule that the one which decides has not spoken for? */
static bool key_asks_body(const struct net_verdict *v)
{
	return v->found.keyed && v->found.keyed != v->found.fits && net_rule_has_body(v->found.keyed);
}

/* By its head. */
static bool may_fit(const struct net_rule *r, const struct http_request *req)
{
	static const char *const json[] = {"application/json", NULL}, *const both[] = {"application/json",
										       "application/graphql", NULL};
	struct ruling no;

	if (req->websocket)
		return false;
	if (!req->body)
		return true;
	return sv_is(req->method, "POST") && req->length <= RPC_BODY_MAX &&
	       body_type(&req->fields, has_mcp(r) ? json : both, &no) >= 0;
}

bool rpc_rules_begin(const struct ruleset *rules, const struct net_request *q, const struct http_request *req,
		     struct net_verdict *v)
{
	while (key_asks_body(v) && !may_fit(v->found.keyed, req))
		v->found.keyed = net_rules_keyed(rules, q, v->found.keyed);
	return req->body && (v->body || key_asks_body(v));
}

int rpc_rules_end(const struct ruleset *rules, struct net_request *q, const struct http_request *req, struct buf *body,
		  struct net_verdict *v, struct ruling *no)
{
	struct ruling later;

	no->status = later.status = 0; /* and no more: this is asked about every request */
	while (v->allow && v->body) {
		struct ruling *why = no->status ? &later : no;

		if (judge(v->found.fits, req, body, why) == 0)
			break;
		if (why->status == RULING_MEMORY) {
			*no = *why;
			return -1;
		}
		q->from = v->next;
		net_rules_request(rules, q, v);
	}
	if (!v->allow)
		return -1;
	for (; key_asks_body(v); v->found.keyed = net_rules_keyed(rules, q, v->found.keyed)) {
		if (may_fit(v->found.keyed, req) && judge(v->found.keyed, req, body, &later) == 0)
			break;
		if (later.status == RULING_MEMORY) {
			*no = later;
			return -1;
		}
	}
	return 0;
}
