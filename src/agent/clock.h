/*
 * clock: milliseconds that only go forward.
 */
#ifndef CORDON_AGENT_CLOCK_H
#define CORDON_AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* For poll(): what is left until then, at least 0. */
static inline int left_ms(int64_t deadline)
{
	int64_t left = deadline - now_ms();

	return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

#endif
