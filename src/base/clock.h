/*
 * clock: time that only goes forward, and means nothing but by its differences.
 */
#ifndef CORDON_BASE_CLOCK_H
#define CORDON_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t now_us(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline int64_t now_ms(void)
{
	return now_us() / 1000;
}

/* For poll(): what is left until then, at least 0. */
static inline int left_ms(int64_t deadline)
{
	int64_t left = deadline - now_ms();

	return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

#endif
