/*
 * inject: putting a credential into a request on its way to a host that it is bound to.
 *
 * What the client sent in that place (the header in any number, the parameter in any spelling, all of AWS's signing
 * headers) is dropped, always; nothing it sent is used to find or to shape ours. The rest of the request stays as it
 * was judged.
 *
 * The request says where the value is (`guarded`), so that HTTP/2 keeps it out of its tables: what is compressed beside
 * bytes of the workload's can be guessed.
 *
 * The changed request borrows from the injection: fields, and with a query the target, point into memory that holds the
 * value until injection_free() wipes it (ordinary memory: the buffers of the TLS library beside it are no better). Free
 * it as soon as the head is written. Log the request before this, never after: a query credential is in the target.
 *
 * inject_apply() leaves the request alone unless it returns INJECT_DONE.
 */
#ifndef CORDON_GATE_EGRESS_INJECT_H
#define CORDON_GATE_EGRESS_INJECT_H

#include <stdint.h>

#include "http/message.h"
#include "vault/grant.h"

enum inject_result {
	INJECT_DONE,
	INJECT_OTHER_HOST,     /* the credential is not bound to the request's host: send nothing */
	INJECT_NEEDS_HASH,     /* sigv4: read the whole body, and call again with its hash */
	INJECT_NOT_SIGNABLE,   /* sigv4: the body is signed in chunks by a key that is not there */
	INJECT_NO_PLACE,       /* no path to put a parameter into ("*", CONNECT) */
	INJECT_TOO_LARGE,      /* too many fields, or the head is too long */
	INJECT_NO_MEMORY,
};

struct inject_context {
	int64_t now;	      /* seconds since 1970; sigv4 */
	struct sv body_sha256; /* hexadecimal, of the whole body; empty: not known */
};

struct injection;

enum inject_result inject_apply(const struct grant *g, struct http_request *req, const struct inject_context *ctx,
				struct injection **ret);
void injection_free(struct injection *in); /* NULL is fine */

/* Is a field of this name (lower case) one that the credential stands in, and so never the client's to send? Any sign
 * counts as a hyphen. */
bool inject_replaces(const struct grant *g, struct sv name);

/* For events and errors: "is not bound to this host", ... */
const char *inject_what(enum inject_result r);

#endif
