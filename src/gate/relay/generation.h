/*
 * generation: one policy as the relay judges by it (struct generation, relay.h).
 */
#ifndef CORDON_RELAY_GENERATION_H
#define CORDON_RELAY_GENERATION_H

#include "gate/relay/relay.h"

/*
 * fd: the bytes of policy_codec.h; stays the caller's, its offset is not moved.
 * before: the one that it takes the place of, or NULL (net_rules_after()). The caller has one reference.
 */
int relay_generation_read(int fd, uint64_t number, const struct generation *before, struct generation **ret,
			  struct error *err);
struct generation *relay_generation_ref(struct generation *g);
void relay_generation_unref(struct generation *g); /* NULL is fine */

#endif
