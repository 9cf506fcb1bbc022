/*
 * plan_gate: what of the gateway stands inside: sockets that listen, and certificates to trust. For the files of plan/
 * only.
 */
#ifndef CORDON_PLAN_GATE_H
#define CORDON_PLAN_GATE_H

#include "plan/plan_draft.h"

/* Nothing where d->gate is NULL. */
int plan_gate_add(struct draft *d);

#endif
