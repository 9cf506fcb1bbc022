/*
 * supervise_gate: what the supervisor does with the gateway's words, and the gateway with PID 1's sockets. For
 * supervise.c only.
 */
#ifndef CORDON_SUPERVISE_SUPERVISE_GATE_H
#define CORDON_SUPERVISE_SUPERVISE_GATE_H

#include "model/event.h"
#include "supervise/ask.h"
#include "supervise/control.h"
#include "supervise/gate.h"
#include "supervise/supervise.h"
#include "wire/wire.h"

struct supervise_gate {
	const struct supervise_request *req;
	struct supervise_result *ret;
	void (*log)(void *arg, const struct event *e);
	void *arg;
	bool lost, left; /* left: the supervisor has begun to end the run for it */
	uint32_t logged[2]; /* lines about denials: of others than models, of models */
	struct ask ask;
	struct control *control; /* whose clients' credentials are compared */
	int64_t (*now)(void);
};

/* From now on the gate's events come here. Nothing where there is no gate. */
void supervise_gate_init(struct supervise_gate *s);

/* PID 1 has made its listening sockets. -1: they cannot be given to the relay. */
int supervise_gate_listeners(struct supervise_gate *s, const struct wire_message *m, struct error *err);

void supervise_gate_done(struct supervise_gate *s);

#endif
