/*
 * quota: how many bytes the run has sent, and network.max_bytes_out, the bound of their total.
 *
 * Counted are the bytes of requests as they are written (heads and bodies, before TLS) and those of tunnels as the kernel took them. A reload moves the
 * bound, never the count.
 */
#ifndef CORDON_GATE_EGRESS_QUOTA_H
#define CORDON_GATE_EGRESS_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "model/policy.h"

struct quota {
	uint64_t out, in; /* so far */
	bool limited;
	uint64_t limit;
};

static inline void quota_follow(struct quota *q, const struct policy *p)
{
	q->limited = p->net.max_bytes_out.set;
	q->limit = p->net.max_bytes_out.v;
}

/* How many bytes more may go out. */
static inline uint64_t quota_left(const struct quota *q)
{
	if (!q->limited)
		return UINT64_MAX;
	return q->out < q->limit ? q->limit - q->out : 0;
}

static inline void quota_sent(struct quota *q, uint64_t n)
{
	q->out = q->out + n < q->out ? UINT64_MAX : q->out + n;
}

#endif
