/*
 * coding: hexadecimal and base64, as bytes become text and digits become values.
 *
 * Nothing here fails or allocates. The caller has the room: two characters a byte for hexadecimal, BASE64_SIZE(n) for
 * base64; no NUL is added.
 */
#ifndef CORDON_BASE_CODING_H
#define CORDON_BASE_CODING_H

#include "base/sv.h"

/* The digits in their order. */
extern const char hex_lower[], hex_upper[], base64_standard[], base64_url[];

#define BASE64_SIZE(n) (((n) + 2) / 3 * 4)

/* The value of a digit in either case, or -1. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that two digits stand for, or -1. */
static inline int hex_byte(char high, char low)
{
	int h = hex_value(high), l = hex_value(low);

	return h < 0 || l < 0 ? -1 : h << 4 | l;
}

void hex_put(struct sv bytes, const char *digits, char *to);
/* With padding. */
void base64_put(struct sv bytes, const char *digits, char *to);

#endif
