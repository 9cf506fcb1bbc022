#include "image/decompress.h"

#include <bzlib.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"

enum { CHUNK = 256 * 1024, ZSTD_WINDOW_LOG = 27 };

static const char damaged[] = "the compressed data is damaged", cut[] = "the compressed data is cut short",
		  no_memory[] = "the compressed data needs more memory than it may have",
		  unwritable[] = "nobody takes the data";

struct flow {
	int in, out;
	char *from, *to; /* CHUNK bytes each */
	size_t n;	 /* bytes at `from` */
	bool ended;
};

static bool fill(struct flow *f)
{
	ssize_t n;

	do
		n = read(f->in, f->from, CHUNK);
	while (n < 0 && errno == EINTR);
	f->n = n > 0 ? (size_t)n : 0;
	f->ended = n <= 0;
	return n >= 0;
}

static const char *inflate_gzip(struct flow *f)
{
	z_stream z = {0};
	const char *wrong = NULL;
	bool between = false; /* a member has ended, and no other has begun */
	int r;

	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return no_memory;
	z.avail_out = CHUNK;
	while (!wrong) {
		/* a full buffer may have more behind it, without further input */
		if (z.avail_in == 0 && (z.avail_out || between)) {
			if (!fill(f))
				wrong = damaged;
			if (f->ended)
				break;
			z.next_in = (Bytef *)f->from;
			z.avail_in = (uInt)f->n;
		}
		if (between && inflateReset(&z) != Z_OK)
			wrong = damaged;
		between = false;
		z.next_out = (Bytef *)f->to;
		z.avail_out = CHUNK;
		r = wrong ? Z_OK : inflate(&z, Z_NO_FLUSH);
		if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
			wrong = damaged;
		if (!wrong && write_all(f->out, f->to, CHUNK - z.avail_out) < 0)
			wrong = unwritable;
		between = r == Z_STREAM_END;
	}
	(void)inflateEnd(&z);
	return wrong ? wrong : between ? NULL : cut;
}

static const char *inflate_bzip2(struct flow *f)
{
	bz_stream b = {0};
	const char *wrong = NULL;
	bool between = false;
	int r;

	if (BZ2_bzDecompressInit(&b, 0, 0) != BZ_OK)
		return no_memory;
	b.avail_out = CHUNK;
	while (!wrong) {
		if (b.avail_in == 0 && (b.avail_out || between)) {
			if (!fill(f))
				wrong = damaged;
			if (f->ended)
				break;
			b.next_in = f->from;
			b.avail_in = (unsigned)f->n;
		}
		if (between) {
			char *next = b.next_in;
			unsigned n = b.avail_in;

			(void)BZ2_bzDecompressEnd(&b);
			b = (bz_stream){.next_in = next, .avail_in = n};
			if (BZ2_bzDecompressInit(&b, 0, 0) != BZ_OK)
				return no_memory;
		}
		b.next_out = f->to;
		b.avail_out = CHUNK;
		r = wrong ? BZ_OK : BZ2_bzDecompress(&b);
		if (r != BZ_OK && r != BZ_STREAM_END)
			wrong = damaged;
		if (!wrong && write_all(f->out, f->to, CHUNK - b.avail_out) < 0)
			wrong = unwritable;
		between = r == BZ_STREAM_END;
	}
	(void)BZ2_bzDecompressEnd(&b);
	return wrong ? wrong : between ? NULL : cut;
}

static const char *inflate_xz(struct flow *f)
{
	lzma_stream l = LZMA_STREAM_INIT;
	const char *wrong = NULL;
	lzma_ret r = LZMA_OK;

	if (lzma_stream_decoder(&l, DECOMPRESS_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
		return no_memory;
	while (!wrong && r != LZMA_STREAM_END) {
		if (l.avail_in == 0 && !f->ended) {
			if (!fill(f))
				wrong = damaged;
			l.next_in = (const uint8_t *)f->from;
			l.avail_in = f->n;
		}
		l.next_out = (uint8_t *)f->to;
		l.avail_out = CHUNK;
		r = wrong ? LZMA_OK : lzma_code(&l, f->ended ? LZMA_FINISH : LZMA_RUN);
		if (r == LZMA_MEMLIMIT_ERROR || r == LZMA_MEM_ERROR)
			wrong = no_memory;
		else if (r == LZMA_BUF_ERROR)
			wrong = cut;
		else if (r != LZMA_OK && r != LZMA_STREAM_END)
			wrong = damaged;
		if (!wrong && write_all(f->out, f->to, CHUNK - l.avail_out) < 0)
			wrong = unwritable;
	}
	lzma_end(&l);
	return wrong;
}

static const char *inflate_zstd(struct flow *f)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {f->from, 0, 0};
	const char *wrong = NULL;
	size_t left = 0; /* 0: between two frames */
	ZSTD_outBuffer out = {f->to, CHUNK, 0};

	if (!z)
		return no_memory;
	if (ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
		wrong = damaged;
	while (!wrong) {
		/* a full buffer may have more behind it, without further input */
		if (in.pos == in.size && (out.pos < out.size || !left)) {
			if (!fill(f))
				wrong = damaged;
			if (f->ended)
				break;
			in = (ZSTD_inBuffer){f->from, f->n, 0};
		}
		out.pos = 0;
		left = wrong ? 0 : ZSTD_decompressStream(z, &out, &in);
		if (ZSTD_isError(left))
			wrong = damaged;
		else if (write_all(f->out, f->to, out.pos) < 0)
			wrong = unwritable;
	}
	(void)ZSTD_freeDStream(z);
	return wrong ? wrong : left ? cut : NULL;
}

const char *decompress(enum compression how, int in, int out)
{
	static const char *(*const by[])(struct flow *) = {[COMPRESSION_GZIP] = inflate_gzip,
							   [COMPRESSION_BZIP2] = inflate_bzip2,
							   [COMPRESSION_XZ] = inflate_xz,
							   [COMPRESSION_ZSTD] = inflate_zstd};
	struct flow f = {.in = in, .out = out, .from = malloc(CHUNK), .to = malloc(CHUNK)};
	const char *wrong = no_memory;

	if (f.from && f.to && how > COMPRESSION_NONE && how <= COMPRESSION_ZSTD)
		wrong = by[how](&f);
	free(f.from);
	free(f.to);
	return wrong;
}
