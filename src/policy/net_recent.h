/*
 * net_recent: the last few questions to a ruleset, and its verdicts: a request like one before it is not judged anew.
 *
 * A ruleset never changes, and its verdict is a function of the question alone. So one that is the same to the byte
 * (host, port, method, target, what its fields ask for, where the search starts; for an address that too) has the same
 * verdict. What is not a function of the question (rates, quotas, bodies) is not the ruleset's business either. Relay
 * and egress each have their own: what one of them remembers the other has judged for itself.
 *
 * Limits: NET_RECENT questions, each with at most NET_RECENT_TEXT bytes; a longer one is judged each time. Borrows the
 * ruleset, and must go before it.
 */
#ifndef CORDON_POLICY_NET_RECENT_H
#define CORDON_POLICY_NET_RECENT_H

#include "policy/net_rules.h"

enum { NET_RECENT = 8, NET_RECENT_TEXT = 256 };

struct net_recent;

struct net_recent *net_recent_new(const struct ruleset *rules); /* NULL: no memory */
void net_recent_free(struct net_recent *recent);		/* NULL is fine */

/* As net_rules_request() and net_rules_address(). */
void net_recent_request(struct net_recent *recent, const struct net_request *request, struct net_verdict *ret);
void net_recent_address(struct net_recent *recent, const struct address *a, const struct net_request *request,
			bool fixed, struct net_verdict *ret);

#endif
