/*
 * emoji: which of the characters that show nothing belong to the picture that they stand in.
 *
 * U+FE0F shows as a picture what would be a letter without it, and U+200D makes one picture of two: of pairs that
 * Unicode recommends, so that fonts have them. Behind and between others they change nothing that could be seen, and
 * two names that look the same would be two.
 */
#ifndef CORDON_BASE_EMOJI_H
#define CORDON_BASE_EMOJI_H

#include <stdbool.h>
#include <stdint.h>

enum { EMOJI_SELECTOR = 0xfe0f, EMOJI_JOINER = 0x200d };

/* What came so far; zero it. */
struct emoji {
	uint32_t last;
	uint32_t picture; /* the last that is no selector and no colour of skin */
};

/* The selector or joiner c belongs where it stands: behind what came so far, before `next` (0: nothing). */
bool emoji_belongs(const struct emoji *e, uint32_t c, uint32_t next);
void emoji_add(struct emoji *e, uint32_t c);

#endif
