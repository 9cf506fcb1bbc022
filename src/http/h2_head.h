/*
 * h2_head: a block of HTTP/2 fields, from what nghttp2 decoded to message.h, and back.
 *
 * Inwards: h2_head_field() for each field, then one of h2_head_request(), _response(), _trailers(). Values are not
 * copied: a head keeps references to nghttp2's own (counted) buffers, so a field that the peer names a hundred times by
 * its index is there once. Only what is made canonical is written anew, into `text`. The first thing wrong is
 * remembered in `bad`; what comes after it is not kept.
 *
 * Outwards: h2_nva_*() fill an array of pairs that borrow from the message. Fields that a message must not hold are
 * refused, so that nobody who hands us a message can add a second :path to it.
 */
#ifndef CORDON_HTTP_H2_HEAD_H
#define CORDON_HTTP_H2_HEAD_H

#include <nghttp2/nghttp2.h>

#include "http/h2.h"
#include "http/target.h"

enum {
	H2_PSEUDO_MAX = 6,
	H2_NVA_MAX = HTTP_MAX_FIELDS + H2_PSEUDO_MAX + 2, /* and content-length, expect */
};

struct h2_bad {
	uint16_t status;
	const char *why; /* NULL: nothing is wrong */
};

struct h2_head {
	struct h2_bad bad;
	size_t size; /* as RFC 9113 counts: names, values and 32 for each */
	/* p is NULL where it did not come. */
	struct sv method, scheme, authority, path, protocol, status, host;
	int64_t length;
	bool expect_continue;
	bool regular; /* a field came that is not a pseudo one */
	uint32_t cookies;
	uint32_t n, n_kept;
	struct http_field v[HTTP_MAX_FIELDS];
	nghttp2_rcbuf *kept[2 * (HTTP_MAX_FIELDS + H2_PSEUDO_MAX)];
	struct http_authority where;
	char *text;
};

void h2_head_init(struct h2_head *head);
void h2_head_done(struct h2_head *head); /* it may be used again */
void h2_head_field(struct h2_head *head, nghttp2_rcbuf *name, nghttp2_rcbuf *value);
void h2_head_refuse(struct h2_head *head, uint16_t status, const char *why); /* the first one counts */

/* The results borrow from the head. 0, or -1: see bad; then ret is untouched. */
int h2_head_request(struct h2_head *head, const struct h2_config *config, bool body, struct http_request *ret);
int h2_head_response(struct h2_head *head, bool websocket, bool body, struct http_response *ret);
int h2_head_trailers(struct h2_head *head, struct http_fields *ret);

struct h2_nva {
	nghttp2_nv v[H2_NVA_MAX];
	size_t n;
	struct sv guarded; /* as in message.h */
	char authority[HTTP_HOST_MAX + 16];
	char length[24];
	char status[8];
};

/* 0, or -EINVAL: something that must not be sent. */
int h2_nva_request(struct h2_nva *nva, const struct http_request *r);
int h2_nva_response(struct h2_nva *nva, const struct http_response *r);
int h2_nva_trailers(struct h2_nva *nva, const struct http_fields *trailers);

#endif
