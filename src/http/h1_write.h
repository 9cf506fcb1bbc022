/*
 * h1_write: writes HTTP/1.1 messages anew, from the structs alone.
 *
 * Each call appends to a buf. What would let a reader see another message than the struct holds (a field that frames or
 * routes, a control character, a body where none can be) is refused once more here, whoever put it there: -EINVAL, and
 * the buffer is as it was. Otherwise 0, or the buffer's own failure.
 *
 * Bodies are not copied: the caller sends their bytes after the head, for H1_BODY_CHUNKED each piece between
 * h1_write_chunk() and h1_write_chunk_end().
 */
#ifndef CORDON_HTTP_H1_WRITE_H
#define CORDON_HTTP_H1_WRITE_H

#include "base/buf.h"
#include "http/h1.h"

/* What follows the head. */
enum h1_body {
	H1_BODY_NONE,
	H1_BODY_LENGTH, /* as many bytes as the head says */
	H1_BODY_CHUNKED,
	H1_BODY_CLOSE, /* bytes until the connection is closed */
};

/* proxy: to one, so that the target is a URL. */
int h1_write_request(struct buf *out, const struct http_request *r, bool proxy, enum h1_body *ret);

struct h1_reply {
	struct h1_asked asked;
	bool http10; /* the client speaks 1.0: no chunks; the connection must be closed after the message */
	bool close;  /* say that it will be */
};

int h1_write_response(struct buf *out, const struct http_response *r, const struct h1_reply *to, enum h1_body *ret);

/* Around n > 0 bytes of a chunked body; and its end, trailers may be NULL. */
int h1_write_chunk(struct buf *out, size_t n);
int h1_write_chunk_end(struct buf *out);
int h1_write_last_chunk(struct buf *out, const struct http_fields *trailers);

/* "400 Bad Request" and the like without the number; "" where it is not one of those we give. */
const char *h1_reason(uint16_t status);

/*
 * An answer of Cordon's own, complete with a JSON body; the connection is to be closed after it. domain, detail and
 * hint may be NULL: they are left out. With status 403 it is a policy's denial and says so in X-Proxy-Error.
 */
int h1_write_error(struct buf *out, uint16_t status, const char *code, const char *domain, const char *detail,
		   const char *hint);

#endif
