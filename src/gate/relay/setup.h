/*
 * setup: from the supervisor's first message to a relay that serves; and what it says later.
 *
 * The order is the point: everything that needs a system call which a relay does not have is done first (loading
 * libraries, reading the policy, watching what was passed), then the process is confined, and only then are the
 * listeners looked at.
 */
#ifndef CORDON_RELAY_SETUP_H
#define CORDON_RELAY_SETUP_H

#include "gate/relay/relay.h"

/* Of the descriptors that the process may have: its own; and those for pipes and for what is being closed. The rest is
 * for connections, two each. */
enum { RELAY_OWN_FDS = 128, RELAY_SPARE_FDS = 512 };

/* Waits for GATE_RELAY_SETUP on GATE_CONTROL_FD, and says GATE_READY when it serves. r: zeroed. */
int relay_setup(struct relay *r, struct error *err);
void relay_teardown(struct relay *r);

/* Puts another generation in force, now, and closes what it forbids. Takes the reference. */
void relay_switch(struct relay *r, struct generation *g);

#endif
