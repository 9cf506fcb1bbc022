/*
 * calls: tunnels asked of egress, which dials and passes the connection back.
 *
 * A call lives in the caller's struct, zeroed before first use. Its answer comes once, from the loop, never from inside
 * relay_call(); after relay_call_cancel() it does not come. Whoever got a tunnel says when it is over: egress keeps a
 * copy of the connection, so closing ours ends nothing.
 */
#ifndef CORDON_RELAY_CALLS_H
#define CORDON_RELAY_CALLS_H

#include "gate/relay/relay.h"

struct relay_call;

/* fd: connected, non-blocking, the receiver's, where why is GATE_FAILURE_NONE; else -1. text: a phrase for a person;
 * may be empty. */
typedef void relay_call_fn(void *arg, enum gate_failure why, struct sv text, int fd);

struct relay_call {
	struct relay_call *next; /* in its bucket */
	struct relay_calls *calls; /* NULL: idle */
	struct loop_timer timer;
	relay_call_fn *fn;
	void *arg;
	uint64_t id;
};

/* fd: the socket to egress, non-blocking; taken. 0 or -errno. */
int relay_calls_new(struct relay *r, int fd, struct relay_calls **ret);
void relay_calls_free(struct relay_calls *c); /* NULL is fine. Calls are forgotten, not answered. */

/* host: canonical, judged by r->now. The id that relay_call_over() wants is call->id, from now on. */
void relay_call(struct relay_calls *c, struct relay_call *call, struct sv host, uint16_t port, relay_call_fn *fn,
		void *arg);
void relay_call_cancel(struct relay_call *call); /* an idle one is fine */

/* The tunnel of that id is closed. */
void relay_call_over(struct relay_calls *c, uint64_t id);

/* Asks whether n > 0 bytes may go up through the tunnel of that id; relay_tunnel_granted() is called with the answer.
 * -errno: it could not be asked. */
int relay_call_want(struct relay_calls *c, uint64_t id, uint32_t n);

#endif
