/*
 * quota: how many bytes the run has sent, and network.max_bytes_out, the bound of their total.
 *
 * Counted are the bytes of requests as they are written (heads, bodies, trailers and what frames chunks; before TLS),
 * those of tunnels, and the questions that DNS is asked. Nothing is sent that was not taken from what is left: at once
 * (quota_take(): heads, what a tunnel is about to send), or in two steps, where bytes wait before they go
 * (quota_reserve(), then quota_spend() as they are sent, or quota_release() where they never will be). So the sum holds
 * whatever is under way at the same time. A reload moves the bound, never the count. Who wants more than is left gets
 * nothing, and the run is done sending: what is under way may end, and nothing new begins until a reload sets another
 * bound.
 */
#ifndef CORDON_GATE_EGRESS_QUOTA_H
#define CORDON_GATE_EGRESS_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "model/policy.h"

struct quota {
	uint64_t out, in;  /* so far */
	uint64_t reserved; /* wait to be sent */
	bool limited;
	bool passed; /* somebody wanted more than was left */
	uint64_t limit;
};

static inline void quota_follow(struct quota *q, const struct policy *p)
{
	if (!p->net.max_bytes_out.set || p->net.max_bytes_out.v != q->limit)
		q->passed = false;
	q->limited = p->net.max_bytes_out.set;
	q->limit = p->net.max_bytes_out.v;
}

/* Has the run sent all that it may? Then nothing goes on. */
static inline bool quota_used_up(const struct quota *q)
{
	return q->limited && q->out >= q->limit;
}

/* May a further request or tunnel begin? */
static inline bool quota_is_open(const struct quota *q)
{
	return !q->limited || (!q->passed && q->out < q->limit && q->reserved < q->limit - q->out);
}

/* How many bytes more may go out, besides those that wait. */
static inline uint64_t quota_left(const struct quota *q)
{
	if (!q->limited)
		return UINT64_MAX;
	if (q->out >= q->limit || q->reserved >= q->limit - q->out)
		return 0;
	return q->limit - q->out - q->reserved;
}

static inline void quota_sent(struct quota *q, uint64_t n)
{
	q->out = q->out + n < q->out ? UINT64_MAX : q->out + n;
}

/* Is there so much left? Where not, the run is done sending: whoever wants to send asks here, or one of the next two.
 */
static inline bool quota_fits(struct quota *q, uint64_t n)
{
	if (n <= quota_left(q))
		return true;
	q->passed = true;
	return false;
}

/* False: there is not so much left, and nothing was taken. */
static inline bool quota_take(struct quota *q, uint64_t n)
{
	if (!quota_fits(q, n))
		return false;
	quota_sent(q, n);
	return true;
}

static inline bool quota_reserve(struct quota *q, uint64_t n)
{
	if (!quota_fits(q, n))
		return false;
	q->reserved += n;
	return true;
}

/* n: at most what was reserved. */
static inline void quota_release(struct quota *q, uint64_t n)
{
	q->reserved -= n;
}

static inline void quota_spend(struct quota *q, uint64_t n)
{
	quota_release(q, n);
	quota_sent(q, n);
}

#endif
