/*
 * decompress: gzip, bzip2, xz and zstd, from one descriptor to another.
 *
 * All members or frames of a stream, one behind the other; what is no such thing behind them is refused, as is a stream
 * that ends early or needs more memory than DECOMPRESS_MEMORY. How much may come out is for whoever reads it to say.
 */
#ifndef CORDON_IMAGE_DECOMPRESS_H
#define CORDON_IMAGE_DECOMPRESS_H

#include "base/sv.h"

enum { DECOMPRESS_MEMORY = 160 << 20 };

enum compression { COMPRESSION_NONE, COMPRESSION_GZIP, COMPRESSION_BZIP2, COMPRESSION_XZ, COMPRESSION_ZSTD };

/* By how it begins. */
enum { COMPRESSION_HEAD = 6 };
enum compression compression_of(struct sv head);

/* NULL, or what is wrong (static text). */
const char *decompress(enum compression how, int in, int out);

#endif
