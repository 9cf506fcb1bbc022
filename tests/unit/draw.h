/*
 * draw: numbers that look like chance, the same in every run (xorshift).
 */
#ifndef CORDON_TESTS_DRAW_H
#define CORDON_TESTS_DRAW_H

#include <stdint.h>

static uint64_t draw_seed = 88172645463325252ULL;

static unsigned draw(unsigned below)
{
	draw_seed ^= draw_seed << 13;
	draw_seed ^= draw_seed >> 7;
	draw_seed ^= draw_seed << 17;
	return (unsigned)(draw_seed >> 16) % below;
}

#endif
