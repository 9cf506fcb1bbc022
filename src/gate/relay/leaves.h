/*
 * leaves: certificates to end TLS with, by host; minted by the vault, which alone has the CA's key.
 *
 * A host is minted for once, however many wait for it. A wait lives in the waiter's struct, zeroed before first use;
 * its answer comes once, from the loop, never from inside relay_leaf_wait(), and not after relay_leaf_cancel(). When
 * the vault is gone, hosts that are cached still have their leaves; others get none.
 *
 * Limits: RELAY_LEAVES cached; RELAY_LEAF_HOSTS waited for at once; RELAY_LEAF_MS for an answer.
 */
#ifndef CORDON_RELAY_LEAVES_H
#define CORDON_RELAY_LEAVES_H

#include "gate/relay/relay.h"

enum { RELAY_LEAVES = 1024, RELAY_LEAF_HOSTS = 256, RELAY_LEAF_MS = 5000 };

struct tls_leaf;
struct leaf_order;

/* leaf: good during the call; NULL: there is none to be had. */
typedef void relay_leaf_fn(void *arg, const struct tls_leaf *leaf);

struct relay_leaf_wait {
	struct relay_leaf_wait *next, *prev; /* ring of those who wait for the same host; NULL: idle */
	relay_leaf_fn *fn;
	void *arg;
};

/* fd: the socket to the vault, non-blocking; taken. 0 or -errno. */
int relay_leaves_new(struct loop *loop, int fd, struct relay_leaves **ret);
void relay_leaves_free(struct relay_leaves *l); /* NULL is fine. Waiters are forgotten, not called. */

/* The cached leaf, good until the next call of this header; or NULL. host: canonical. */
const struct tls_leaf *relay_leaf_find(struct relay_leaves *l, struct sv host);

/* 0, or -errno: it cannot be asked for. */
int relay_leaf_wait(struct relay_leaves *l, struct relay_leaf_wait *w, struct sv host, relay_leaf_fn *fn, void *arg);
void relay_leaf_cancel(struct relay_leaf_wait *w); /* an idle one is fine */

#endif
