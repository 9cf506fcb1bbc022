/*
 * group: sandboxes that share one network. The first, the leader, is an ordinary sandbox with an image; others join the user and the network namespace that it was made in, and have what its gateway opens, under its policy.
 *
 * A member connects to the leader's supervisor as clients do (control.h) and keeps the connection: its end is the end of the member.
 */
#ifndef CORDON_SUPERVISE_GROUP_H
#define CORDON_SUPERVISE_GROUP_H

#include "base/arena.h"
#include "base/error.h"
#include "supervise/gate.h"

enum { GROUP_WAIT_MS = 10000 };

struct group {
	int leader;    /* the connection; readable at its end only */
	int spaces[2]; /* user and network namespace */
	bool gateway;  /* the leader has one, and `inside` says what programs need for it */
	struct gate_inside inside;
	struct arena *arena; /* of that */
};

/* For a member. Waits for a leader that is still being made, GROUP_WAIT_MS at most. */
int group_join(const char *id, struct group *ret, struct error *err);
void group_done(struct group *g);

/* For the leader's supervisor: answers one that asks (INSIDE_JOIN). spaces: -1 as long as they are not known; then the client asks again. 0 or -errno. */
int group_answer(int client, const int spaces[2], const struct gate *gate);

#endif
