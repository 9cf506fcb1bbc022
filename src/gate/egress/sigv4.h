/*
 * sigv4: AWS Signature Version 4, in the Authorization header.
 *
 * Signs what the request will be on the wire: method, target, host and port, and all fields but those that hops change
 * (the list is in the source). So it comes last, after every other change of the head. The request's fields must hold
 * x-amz-date already, and x-amz-security-token and x-amz-content-sha256 where they are used. Nothing of the key but its
 * id is in the result.
 */
#ifndef CORDON_GATE_EGRESS_SIGV4_H
#define CORDON_GATE_EGRESS_SIGV4_H

#include <stdint.h>

#include "base/buf.h"
#include "http/message.h"

enum { SIGV4_DATE = 17 }; /* 20150830T123600Z and NUL */

struct sigv4_request {
	const struct http_request *http;
	const char *region, *service; /* path segments are encoded once more, except where sigv4_is_s3() */
	const char *date;	      /* as in x-amz-date */
	struct sv key_id, secret_key;
	struct sv payload_hash; /* hexadecimal SHA-256, or UNSIGNED-PAYLOAD and its like */
};

/* Of S3, in either of the names that it signs by. */
bool sigv4_is_s3(const char *service);

/* What requests to this host are signed for: directory buckets (S3 Express One Zone) are S3 to all who use them, but
 * have a service name of their own. */
const char *sigv4_service(const char *service, struct sv host);

/* Seconds since 1970, in UTC. */
void sigv4_date(int64_t now, char ret[SIGV4_DATE]);

/* The value of Authorization is appended. 0; -ENOMEM; -EFBIG: more than the buffers here take. */
int sigv4_sign(const struct sigv4_request *r, struct buf *authorization);

/* Host as it stands in the head: with the port where it is not the scheme's own, IPv6 in brackets. */
void sigv4_host(const struct http_request *req, struct buf *out);

#endif
