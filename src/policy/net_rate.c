#include "policy/net_rate.h"

static const uint64_t second = UINT64_C(1000000000);

bool net_rate_take(struct net_budget *b, uint64_t per_hour, uint64_t now)
{
	uint64_t cost = 3600 * second / per_hour, start = b->ahead_to > now ? b->ahead_to : now;

	/* The first request always fits, else a rate below one a second would never let any pass. */
	if (start > now && start + cost > now + second)
		return false;
	b->ahead_to = start + cost;
	return true;
}
