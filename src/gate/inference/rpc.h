/*
 * rpc: holds the body of a request to the rule keys `graphql` and `mcp` of the network domain.
 *
 * Like judge.h: pure, for relay and egress alike; JSON bodies are collected (at most SCAN_MAX_BYTES), rewritten in
 * place in canonical form and sent as that.
 *
 * graphql: {types, operations}. Every operation of a document must be of an allowed type, and every field at its top on
 * the list (`__typename` apart), also those that fragments bring: which of several operations a server runs is decided
 * by a name that servers take from different places. A name that a client gives to its operation means nothing. A GET
 * carries the document in its query; a POST as JSON (or a list of such), or as application/graphql. Refused as not
 * judgeable: persisted documents, members that are not of the specification, the same parameters in URL and body.
 *
 * mcp: {methods, tools}. JSON-RPC messages, one or a list. tools/call is held to `tools` where that is given (else to
 * `methods`). All other methods are held to `methods`; where only `tools` is given, to what a session needs to call a
 * tool: initialize, ping, tools/list, notifications. Answers of the client pass. Requests without a body (GET opens the
 * stream back, DELETE ends a session) have nothing to judge, and would be open on every path: they pass where the rule
 * names paths, which are then the server's endpoint.
 */
#ifndef CORDON_GATE_INFERENCE_RPC_H
#define CORDON_GATE_INFERENCE_RPC_H

#include "base/buf.h"
#include "gate/inference/ruling.h"
#include "http/message.h"
#include "model/policy.h"

/* body: the collected one; empty where there is none. 0, or -1 and the ruling; then the body is of no use. */
int rpc_judge_graphql(const struct net_graphql *rule, const struct http_request *req, struct buf *body,
		      struct ruling *no);
int rpc_judge_mcp(const struct net_rule *rule, const struct http_request *req, struct buf *body, struct ruling *no);

#endif
