/*
 * message: HTTP messages as plain data, whichever version carried them.
 *
 * What a reader (h1.h, h2.h) hands out has been checked and made canonical; what a writer takes is written anew from
 * these fields alone. Nothing here is a copy of bytes that came in, so the bytes that were judged are the bytes that
 * are sent.
 *
 * A message's memory belongs to whoever made it (one arena per message); the structs borrow.
 */
#ifndef CORDON_HTTP_MESSAGE_H
#define CORDON_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

enum {
	HTTP_MAX_FIELDS = 256, /* Set-Cookie, and in HTTP/2 each cookie, are one each */
	HTTP_MAX_HEAD = 64 * 1024, /* method, target and fields together */
	HTTP_MAX_TARGET = 16 * 1024,
};

struct http_field {
	struct sv name;  /* lower case, a token */
	struct sv value; /* no leading or trailing blanks, no control characters but tab */
};

struct http_fields {
	struct http_field *v;
	uint32_t n;
};

/* The length of a body as the head declares it. */
enum { HTTP_LENGTH_UNKNOWN = -1 };

/*
 * fields never hold what frames or routes a message: host, content-length, transfer-encoding, connection and what it
 * names, keep-alive, te (but "trailers"), trailer, upgrade, proxy-*, http2-settings, expect. Those are members here, or
 * are the hop's own business (fields.h knows them).
 */
struct http_request {
	struct sv method;    /* a token, as sent */
	bool tls;            /* https or http */
	struct sv host;      /* lower case, no trailing dot; an IPv6 address without brackets */
	uint16_t port;       /* never 0 */
	struct sv target;    /* canonical path and query: starts with "/"; "*" with OPTIONS; empty with CONNECT */
	bool ambiguous_path; /* target.h: only for rules that do not restrict paths */
	struct http_fields fields;
	bool body;      /* one follows */
	int64_t length; /* of the body; HTTP_LENGTH_UNKNOWN; 0 where none follows */
	bool websocket; /* asks for an upgrade to it (or extended CONNECT in HTTP/2) */
	bool expect_continue;
	bool last;	   /* HTTP/1.1: say that the connection ends with it. Egress only. */
	struct sv guarded; /* the name of the field that holds a credential, ":path" for the target: in no table of
			      HTTP/2. Egress only. */
};

struct http_response {
	uint16_t status;  /* 1xx is interim: another head follows */
	struct sv reason; /* may be empty; HTTP/1.1 only */
	struct http_fields fields;
	bool body;
	int64_t length; /* as declared, to HEAD and with 304 too, where no body follows */
	bool websocket; /* 101 */
};

/*
 * Has a body a meaning with this method? With GET, HEAD, OPTIONS, TRACE and CONNECT, in any case, it has none: servers
 * that therefore leave it unread take it for their next request, which nobody judged.
 */
bool http_method_has_body(struct sv method);
extern const char http_needless_body[]; /* what to say of one */

/* The value of the first field of that name (lower case), or NULL. */
const struct sv *http_field(const struct http_fields *f, const char *name);

#endif
