/*
 * rpc_rules: which rules of the network a request goes by as a whole, its body included.
 *
 * There are two: the one that decides, which is the first that fits (net_verdict.found.fits), and the one that gives
 * the credential, which is the first that fits and names one (net_verdict.found.keyed). Either may have graphql or mcp,
 * and then fits only with its body. Relay and egress ask here, so that they come to the same two.
 *
 *	net_rules_request(), of the head -> rpc_rules_begin() -> the body is collected, where that says so ->
 * rpc_rules_end()
 */
#ifndef CORDON_GATE_INFERENCE_RPC_RULES_H
#define CORDON_GATE_INFERENCE_RPC_RULES_H

#include "base/buf.h"
#include "gate/inference/ruling.h"
#include "http/message.h"
#include "policy/net_rules.h"

enum { RPC_BODY_MAX = 1 << 20 }; /* of a body that is held to graphql or mcp */

/*
 * v: the verdict about the head, which allows it. Is the body needed to know more? Only for rules that the head does
 * not show to be none of them: a body of another type, or a longer one, costs a request nothing but the credential of
 * such a rule.
 */
bool rpc_rules_begin(const struct ruleset *rules, const struct net_request *q, const struct http_request *req,
		     struct net_verdict *v);

/*
 * body: the collected one; empty where there is none. 0: v is the verdict about all of it, and the body is rewritten in
 * canonical form where a rule has looked at it. -1: no is why, by the first rule that refused it; the body is as it
 * was.
 */
int rpc_rules_end(const struct ruleset *rules, struct net_request *q, const struct http_request *req, struct buf *body,
		  struct net_verdict *v, struct ruling *no);

#endif
