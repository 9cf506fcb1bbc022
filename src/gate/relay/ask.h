/*
 * ask: what no rule allows, a person may (network.ask). The supervisor asks; a yes comes as a new policy, which egress
 * has as well, and then as an answer: what waited is judged again.
 *
 * A host and port are asked about once: guests that want the same wait together, and after a no nobody is asked again
 * for ASK_AGAIN_MS. Requests within HTTP do not wait: they are refused, and may come again. Where the supervisor has
 * said that there is nobody, no question is put, and no answer promised.
 */
#ifndef CORDON_RELAY_ASK_H
#define CORDON_RELAY_ASK_H

#include "gate/relay/guest.h"

enum { ASK_QUESTIONS = 64, ASK_AGAIN_MS = 5 * 60 * 1000 };

struct relay_ask;

struct relay_ask *relay_ask_new(void); /* NULL: no memory */
void relay_ask_free(struct relay_ask *a); /* NULL is fine */

/* Puts the question where it was not put yet. True: an answer is awaited. */
bool relay_ask(struct relay *r, struct sv host, uint16_t port);

/* The same for a guest that waits for the answer. False: deny it. */
bool relay_ask_wait(struct guest *g);
void relay_ask_leave(struct guest *g); /* it ends; one that does not wait is fine */

/* GATE_ANSWER. False: malformed. */
bool relay_ask_answered(struct relay *r, struct sv body);

#endif
