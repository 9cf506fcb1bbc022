/*
 * net_index: which rules of a list are for a host, without looking at the others.
 *
 * One hash table holds exact hosts, the names behind "*.", and networks by their prefix; each leads to its rules, in
 * their order. A host is looked up whole, by every name that it stands below, and as an address by every prefix length
 * that the list has: work that grows with the host's labels and the kinds of prefix, not with the rules.
 *
 * The index borrows the list, which must outlive it, and never changes. A rule that is neither a host nor a network
 * that can be read is for nobody.
 */
#ifndef CORDON_POLICY_NET_INDEX_H
#define CORDON_POLICY_NET_INDEX_H

#include "policy/net_match.h"

struct net_index;

struct net_index *net_index_new(const struct net_rules *rules); /* NULL: no memory */
void net_index_free(struct net_index *x);                       /* NULL is fine */

/* Positions in the list, rising. */
struct net_chain {
	const uint32_t *v;
	uint32_t n;
};

struct net_cursor {
	const struct net_index *index;
	const struct net_host *host;
	size_t at;      /* of the host's text: what is behind it has been looked at */
	uint64_t hash;  /* of that */
	unsigned width; /* the next prefix length */
};

void net_index_find(const struct net_index *x, const struct net_host *host, struct net_cursor *ret);
/* The next chain for the host; false: that was all. */
bool net_index_next(struct net_cursor *c, struct net_chain *ret);

#endif
