/*
 * h1_chunk: the chunked coding, taken apart as it arrives; for h1.c.
 *
 * Sizes are 1 to 15 hexadecimal digits and nothing else, lines end in CRLF, extensions are passed over and bounded. The
 * trailers behind the last chunk are the caller's.
 */
#ifndef CORDON_HTTP_H1_CHUNK_H
#define CORDON_HTTP_H1_CHUNK_H

#include "http/h1.h"

struct h1_chunk {
	uint8_t state;
	uint8_t digits;
	uint32_t extension; /* bytes, of all chunks so far */
	int64_t left;       /* of this chunk */
};

/* H1_DATA with *ret_data, H1_END after the line of the last chunk, H1_MORE, H1_ERROR. All zero is the start. */
enum h1_event h1_chunk_read(struct h1_chunk *c, struct sv *in, struct sv *ret_data, struct h1_fault *fault);

#endif
