/*
 * text: showing untrusted bytes to a person, and guessing what a person meant.
 */
#ifndef CORDON_BASE_TEXT_H
#define CORDON_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sv.h"

/*
 * Appends s with control bytes, escapes, bidirectional marks, invisible characters and bytes that are not UTF-8 as
 * \xNN, so that nothing in it can move a cursor, fake a line or go unseen; invisible characters that an emoji is made
 * with (emoji.h) are left. At most max bytes of s are shown, then "...".
 */
void text_escape(struct buf *out, struct sv s, size_t max);

/* The same into a fixed array, for error messages: at most 200 bytes of s. Returns out. */
struct text_shown {
	char s[4 * 200 + 8];
};
const char *text_show(struct text_shown *out, struct sv s);

/* Length of a valid UTF-8 sequence at s (1 to 4), or 0: overlong forms, surrogates and cut ones are invalid. */
size_t text_utf8(struct sv s);

/* The character that a valid sequence of n bytes is. */
uint32_t text_code_point(const char *s, size_t n);

/*
 * A character beyond ASCII that a terminal could take for an order, or that turns round what stands beside it: no part
 * of any word or picture.
 */
bool text_steers(uint32_t c);

/* Length of the white space character at s as Unicode has it, line ends included (1 to 3 bytes), or 0. */
size_t text_space(struct sv s);

/* s without white space at its beginning, or at its end too. */
struct sv text_trim_left(struct sv s);
struct sv text_trim(struct sv s);

/* The candidate closest to word (NULL-terminated list), or NULL where none is near enough to be what was meant. */
const char *text_nearest(struct sv word, const char *const *candidates);

#endif
