#include "http/h1_chunk.h"

/* Nobody needs extensions; a peer that sends more of them than this wants us busy. */
enum { DIGITS_MAX = 15, EXTENSION_MAX = 16 * 1024 };

enum { SIZE, EXTENSION, SIZE_LF, DATA, DATA_CR, DATA_LF };

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *in_size(struct h1_chunk *c, char b)
{
	int v = digit(b);

	if (v >= 0) {
		if (c->digits == DIGITS_MAX)
			return "chunk size too large";
		c->digits++;
		c->left = c->left << 4 | v;
		return NULL;
	}
	if (c->digits == 0 || (b != ';' && b != '\r'))
		return "malformed chunk size";
	c->state = b == ';' ? EXTENSION : SIZE_LF;
	return NULL;
}

static const char *in_extension(struct h1_chunk *c, char b)
{
	if (b == '\r') {
		c->state = SIZE_LF;
		return NULL;
	}
	if (++c->extension > EXTENSION_MAX)
		return "chunk extensions too long";
	return ((unsigned char)b < 0x20 && b != '\t') || b == 0x7f ? "control character in a chunk extension" : NULL;
}

/* One byte that is not data. */
static const char *step(struct h1_chunk *c, char b)
{
	switch (c->state) {
	case SIZE:
		return in_size(c, b);
	case EXTENSION:
		return in_extension(c, b);
	case DATA_CR:
		c->state = DATA_LF;
		return b == '\r' ? NULL : "chunk is longer than its size";
	case DATA_LF:
		c->state = SIZE;
		c->digits = 0;
		return b == '\n' ? NULL : "chunk does not end in CRLF";
	default: /* SIZE_LF */
		c->state = DATA;
		return b == '\n' ? NULL : "chunk size does not end in CRLF";
	}
}

enum h1_event h1_chunk_read(struct h1_chunk *c, struct sv *in, struct sv *ret_data, struct h1_fault *fault)
{
	const char *wrong;
	size_t n;

	while (in->n) {
		if (c->state == DATA) {
			n = (uint64_t)c->left < in->n ? (size_t)c->left : in->n;
			*ret_data = sv_n(in->p, n);
			*in = sv_n(in->p + n, in->n - n);
			c->left -= (int64_t)n;
			if (c->left == 0)
				c->state = DATA_CR;
			return H1_DATA;
		}
		wrong = step(c, in->p[0]);
		if (wrong) {
			*fault = (struct h1_fault){400, wrong};
			return H1_ERROR;
		}
		*in = sv_n(in->p + 1, in->n - 1);
		if (c->state == DATA && c->left == 0)
			return H1_END;
	}
	return H1_MORE;
}
