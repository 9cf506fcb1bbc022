/*
 * rpc: JSON-RPC 2.0 with a process at the other end of two pipes, one message a line.
 *
 * What comes is untrusted: a line has at most RPC_LINE_MAX bytes and is read by base/json_scan.h. What goes out is kept
 * until the pipe takes it, so that two who both only write do not wait for each other for ever; more than
 * RPC_UNSENT_MAX of it is a failure.
 */
#ifndef CORDON_AGENT_RPC_H
#define CORDON_AGENT_RPC_H

#include "base/buf.h"
#include "base/json_scan.h"

enum {
	RPC_LINE_MAX = 16 << 20,
	RPC_UNSENT_MAX = 64 << 20,
};

/* Codes of errors. */
enum {
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMS = -32602,
	RPC_FAILED = -32603,
	RPC_NOT_FOUND = -32002,
	RPC_AUTH_REQUIRED = -32000
};

struct rpc {
	int in, out; /* borrowed; not blocking */
	struct buf received;
	size_t seen; /* bytes of it without a newline */
	struct buf unsent;
};

void rpc_init(struct rpc *r, int in, int out);
void rpc_done(struct rpc *r);

/* Reads what there is. 1: something came; 0: the end; -EAGAIN; -EFBIG: a line that is too long; -errno. */
int rpc_fill(struct rpc *r);

/* Takes the next whole line, without its newline, off what came. */
bool rpc_line(struct rpc *r, struct buf *line);

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESULT, RPC_ERROR };

struct rpc_message {
	enum rpc_kind kind;
	struct sv id;	  /* as JSON; of all but notifications */
	struct sv method; /* of requests and notifications; canonical */
	uint32_t body;	  /* params, result or error; 0: there is none */
};

/* 0, or -EINVAL: it is JSON but no message. */
int rpc_parse(const struct json_scan *s, struct rpc_message *ret);

/* A value as JSON; a string with its quotes. */
struct sv rpc_raw(const struct json_scan *s, uint32_t i);

/* To be sent. Values are JSON. 0, or -errno. */
int rpc_call(struct rpc *r, unsigned id, const char *method, struct sv params);
int rpc_result(struct rpc *r, struct sv id, struct sv value);
int rpc_error(struct rpc *r, struct sv id, int code, const char *message);

/* Writes what the pipe takes now. 0, or -errno. */
int rpc_flush(struct rpc *r);

#endif
