/*
 * textdiff_lcs: which lines of two texts have a partner in the other one (the longest common subsequence, after Myers'
 * O(ND)).
 *
 * Lines that occur on one side only are set aside first, so that a file that was rewritten as a whole costs next to
 * nothing; the rest is halved at the middle of the shortest edit, in linear space. Lines are told apart by sorting, not
 * by hashing: nobody can make them collide.
 *
 * The work is bounded by the caller. Owns nothing beyond the call.
 */
#ifndef CORDON_SUPERVISE_TEXTDIFF_LCS_H
#define CORDON_SUPERVISE_TEXTDIFF_LCS_H

#include <stdint.h>

#include "base/sv.h"

struct lcs_side {
	const struct sv *lines;
	size_t n;
	unsigned char *changed; /* n bytes, all 0 before; 1 after it for a line without a partner */
};

/* 0; -E2BIG: more than *work steps (or lines) would be needed; -ENOMEM. *work: what is left of it. */
int textdiff_lcs(struct lcs_side *a, struct lcs_side *b, uint64_t *work);

#endif
