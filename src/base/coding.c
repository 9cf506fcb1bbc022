#include "base/coding.h"

#include <stdint.h>

#define LETTERS_AND_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

const char hex_lower[] = "0123456789abcdef", hex_upper[] = "0123456789ABCDEF";
const char base64_standard[] = LETTERS_AND_DIGITS "+/", base64_url[] = LETTERS_AND_DIGITS "-_";

void hex_put(struct sv bytes, const char *digits, char *to)
{
	size_t i;

	for (i = 0; i < bytes.n; i++) {
		*to++ = digits[(unsigned char)bytes.p[i] >> 4];
		*to++ = digits[(unsigned char)bytes.p[i] & 15];
	}
}

void base64_put(struct sv bytes, const char *digits, char *to)
{
	const unsigned char *p = (const unsigned char *)bytes.p;
	uint32_t v;
	size_t i;

	for (i = 0; i < bytes.n; i += 3, to += 4) {
		v = (uint32_t)p[i] << 16 | (i + 1 < bytes.n ? (uint32_t)p[i + 1] << 8 : 0) |
		    (i + 2 < bytes.n ? p[i + 2] : 0);
		to[0] = digits[v >> 18];
		to[1] = digits[v >> 12 & 63];
		to[2] = i + 1 < bytes.n ? digits[v >> 6 & 63] : '=';
		to[3] = i + 2 < bytes.n ? digits[v & 63] : '=';
	}
}
