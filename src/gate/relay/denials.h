/*
 * denials: which denials are told one by one, so that none can hide behind others. Part of events.
 *
 * There are three sorts, each with a budget of its own: names that were looked up, requests and connections, and
 * requests to models. Within RELAY_DENIALS_BURST (which comes back by a few each second) a denial is told at once and
 * by itself. Above it, one for each place (a host, a model) waits for its turn, with the number of those that followed
 * it; places are told as they came. RELAY_DENIALS_WAITING places of a sort can wait; what finds no room there is
 * counted, by sort, and told as "(others)".
 */
#ifndef CORDON_RELAY_DENIALS_H
#define CORDON_RELAY_DENIALS_H

#include <stdbool.h>
#include <stddef.h>

#include "gate/relay/events.h"
#include "model/gate.h"

enum { RELAY_DENIALS_BURST = 50, RELAY_DENIALS_WAITING = 256 };

struct relay_denials;

/* send: false where it could not be sent. NULL: no memory. */
struct relay_denials *relay_denials_new(bool (*send)(void *arg, const struct gate_event *g), void *arg);
void relay_denials_free(struct relay_denials *d); /* NULL is fine */

/* texts: subject, rule and detail, escaped, one behind the other; n: their lengths. */
void relay_denials_tell(struct relay_denials *d, const struct relay_event *event, struct sv texts, const size_t n[3]);

/* Denials that there are no texts for. */
void relay_denials_count(struct relay_denials *d, const struct relay_event *event, uint32_t n);

/* A count that stays where it is when there is no larger one. */
void relay_denials_add_up(uint32_t *to, uint32_t n);

/* Once a second: those whose turn it is. False: nothing waits, and the budgets are whole. */
bool relay_denials_tick(struct relay_denials *d);

/* All that waits. */
void relay_denials_flush(struct relay_denials *d);

#endif
