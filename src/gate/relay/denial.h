/*
 * denial: an answer of Cordon's own to a request: a policy's no, a malformed request, or an upstream that could not be
 * asked.
 *
 * The body is JSON, in one of two forms: {"error","domain","detail","hint"}, which with status 403 is the contract of a
 * policy's denial; or the error form of a model provider, so that its SDK shows the words: for requests to models that
 * are malformed, too large or over budget.
 *
 * Plain data on the caller's stack. Text that came from outside is escaped before it gets here; what is too long is
 * cut.
 */
#ifndef CORDON_RELAY_DENIAL_H
#define CORDON_RELAY_DENIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "gate/inference/ruling.h"
#include "http/message.h"
#include "model/gate.h"
#include "model/policy.h"

struct denial {
	uint16_t status;
	const char *code;   /* "policy_denied" and the like; constant */
	const char *domain; /* "network", "inference", or NULL */
	bool as_provider;   /* in the error form of `kind` */
	enum provider_kind kind;
	char detail[400];
	char hint[320]; /* may be empty */
};

enum { DENIAL_FIELDS = 3, DENIAL_BODY = 8 * 1024 };

/* hint: NULL is none. */
void denial_set(struct denial *d, uint16_t status, const char *code, const char *hint, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

void denial_from_failure(struct denial *d, enum gate_failure why, struct sv text);

/* Of the inference domain, or of a network rule that looks into bodies; kind: the provider's. */
void denial_from_ruling(struct denial *d, const struct ruling *no, bool inference, enum provider_kind kind);

/* What a malformed request is called: "bad_request", "head_too_large", ... */
const char *denial_code(uint16_t status);

/* As a message: fields has DENIAL_FIELDS entries, body is appended to. For HTTP/2. 0 or the buffer's failure. */
int denial_message(const struct denial *d, struct http_field *fields, struct buf *body, struct http_response *ret);

/* As bytes of HTTP/1.1, complete; the connection is to be closed after it. head: to a HEAD, which gets no body. */
int denial_write(const struct denial *d, bool head, struct buf *out);

#endif
