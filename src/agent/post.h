/*
 * post: one request to the gateway's inference port, and its answer.
 *
 * Plain HTTP to a loopback address, one connection each: the way out of the sandbox is behind that port, and nothing
 * else can be reached. The answer is read by the gateway's own strict reader (http/h1.h); its body has at most
 * REPLY_MAX bytes.
 */
#ifndef CORDON_AGENT_POST_H
#define CORDON_AGENT_POST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* A base URL, as the sandbox's variables have it. */
struct post_base {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address;
	socklen_t n_address;
	char host[64];	/* for the field Host */
	char path[256]; /* "" or "/..." without a slash at its end */
};

/* name: of the variable, for messages. Only http:// and a loopback address (or localhost) are taken. */
int post_base_parse(const char *name, const char *url, struct post_base *ret, struct error *err);

struct post_field {
	const char *name, *value; /* value NULL: it is not sent */
};

struct post_request {
	const char *path; /* behind the base's */
	const struct post_field *fields;
	size_t n_fields;
	struct sv body; /* JSON */
	int timeout_ms; /* for all of it */
};

struct post_answer {
	int status;
	bool denied;	      /* by the policy */
	bool final;	      /* the server says that trying again is of no use */
	unsigned retry_after; /* seconds; 0: it does not say */
	struct buf body;
};

/* On success the answer's body is the caller's (buf_done()); -1: there was no answer. */
int post_send(const struct post_base *base, const struct post_request *req, struct post_answer *ret, struct error *err);

#endif
