/*
 * net_rate: a budget of requests over time.
 *
 * A budget is a clock that runs ahead of the real one by what each request costs (an hour divided by its rate); when it
 * is a second ahead, requests are refused. So a burst is at most one second's worth, or one request where a second has
 * less, and a lower rate is tighter in every window. Requests of different rates can share a budget: together they get
 * no more than the highest of their rates.
 */
#ifndef CORDON_POLICY_NET_RATE_H
#define CORDON_POLICY_NET_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct net_budget {
	uint64_t ahead_to; /* nanoseconds of a monotonic clock; 0 at first */
};

/* One request, now (nanoseconds). False: it is too early, and costs nothing. per_hour is never 0. */
bool net_rate_take(struct net_budget *b, uint64_t per_hour, uint64_t now);

#endif
