/*
 * link_frame: the frames of link.h as bytes. Of no use outside http/.
 *
 * A frame is a header (length of the payload, type, exchange) and a payload of wire/wire.h's fields. Decoders check
 * every count and length, and that nothing is left over; strings are views into the payload.
 */
#ifndef CORDON_HTTP_LINK_FRAME_H
#define CORDON_HTTP_LINK_FRAME_H

#include <stddef.h>

#include "base/buf.h"
#include "http/link.h"

enum { LINK_HEADER = 12 };

enum link_type { LINK_REQUEST = 1, LINK_RESPONSE, LINK_DATA, LINK_END, LINK_FAIL, LINK_RESET, LINK_CREDIT, LINK_TYPES };

struct link_header {
	uint32_t length; /* of the payload */
	enum link_type type;
	uint32_t exchange;
	int near; /* of a request: the CPU to answer from (loop/near.h), or -1 */
};

/* Starts a frame at the end of out; link_close() puts its length in. Returns where it starts. */
size_t link_open(struct buf *out, enum link_type type, uint32_t exchange);
void link_close(struct buf *out, size_t at);

/* For the frame that starts there. */
void link_set_near(struct buf *out, size_t at, int cpu);

/* From LINK_HEADER bytes. 0 or -EBADMSG: too long, or of no known type. */
int link_get_header(const char *bytes, struct link_header *ret);

void link_put_request(struct buf *out, const struct link_request *r);
void link_put_response(struct buf *out, const struct http_response *r);
void link_put_fields(struct buf *out, const struct http_fields *f); /* NULL: none */

/* room: for HTTP_MAX_FIELDS. 0 or -EBADMSG. */
int link_get_request(struct sv payload, struct http_field *room, struct link_request *ret);
int link_get_response(struct sv payload, struct http_field *room, struct http_response *ret);
int link_get_trailers(struct sv payload, struct http_field *room, struct http_fields *ret);

#endif
