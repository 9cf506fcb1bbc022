#include "image/tar_header.h"

#include <string.h>

bool tar_number(const unsigned char *block, struct tar_field f, uint64_t *ret)
{
	const unsigned char *p = block + f.at;
	uint64_t v = 0;
	size_t i = 0;

	if (p[0] & 0x80) {
		/* 0x80: positive; 0xff and the like: negative, or too large for anything */
		v = p[0] & 0x7f;
		for (i = 1; i < f.n; i++) {
			if (v >> 55)
				return false;
			v = v << 8 | p[i];
		}
		*ret = v;
		return true;
	}
	while (i < f.n && p[i] == ' ')
		i++;
	for (; i < f.n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0'); /* 12 digits fit */
	for (; i < f.n; i++)
		if (p[i] != ' ' && p[i] != '\0')
			return false;
	*ret = v;
	return true;
}

bool tar_time(const unsigned char *block, struct tar_field f, int64_t *ret)
{
	uint64_t v;

	if (block[f.at] == 0xff) {
		*ret = 0;
		return true;
	}
	if (!tar_number(block, f, &v) || v > INT64_MAX)
		return false;
	*ret = (int64_t)v;
	return true;
}

struct sv tar_text(const unsigned char *block, struct tar_field f)
{
	const char *p = (const char *)block + f.at;

	return sv_n(p, strnlen(p, f.n));
}

unsigned tar_checksum(const unsigned char *block)
{
	unsigned sum = 0, i;

	for (i = 0; i < TAR_BLOCK; i++)
		sum += i >= TAR_CHECKSUM.at && i < (unsigned)(TAR_CHECKSUM.at + TAR_CHECKSUM.n) ? ' ' : block[i];
	return sum;
}

/* Old programs added signed characters. */
static unsigned signed_checksum(const unsigned char *block)
{
	unsigned sum = 0, i;

	for (i = 0; i < TAR_BLOCK; i++)
		sum += i >= TAR_CHECKSUM.at && i < (unsigned)(TAR_CHECKSUM.at + TAR_CHECKSUM.n)
			       ? ' '
			       : (unsigned)(signed char)block[i];
	return sum;
}

bool tar_checksum_ok(const unsigned char *block)
{
	uint64_t want;

	return tar_number(block, TAR_CHECKSUM, &want) &&
	       (want == tar_checksum(block) || want == signed_checksum(block));
}
