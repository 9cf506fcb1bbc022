/*
 * group: sandboxes that share one network. The first, the leader, is an ordinary sandbox with an image; others on the
 * same runtime join its network (on native the user namespace, too), and have what its gateway opens, under its policy.
 *
 * A member connects to the leader's supervisor as clients do (control.h) and keeps the connection: its end is the end
 * of the member.
 */
#ifndef CORDON_SUPERVISE_GROUP_H
#define CORDON_SUPERVISE_GROUP_H

#include "base/arena.h"
#include "base/error.h"
#include "supervise/gate.h"

enum { GROUP_WAIT_MS = 40000 }; /* a runtime may take a while to start the leader */

struct group {
	int leader;    /* the connection; readable at its end only */
	int spaces[2]; /* user and network namespace; -1: they are not the host's */
	bool gateway;  /* the leader has one, and `inside` says what programs need for it */
	struct gate_inside inside;
	struct arena *arena; /* of that */
};

/* For a member, to be made by that runtime. Waits for a leader that is still being made, GROUP_WAIT_MS at most. */
int group_join(const char *id, const char *runtime, struct group *ret, struct error *err);
void group_done(struct group *g);

/* For the leader's supervisor: answers one that asks (INSIDE_JOIN). As long as the network does not stand, the client
 * asks again. 0 or -errno. */
struct group_leader {
	bool network;
	const int *spaces; /* two, as above */
	const char *runtime;
	const struct gate *gate; /* NULL: none */
};
int group_answer(int client, const struct group_leader *l);

#endif
