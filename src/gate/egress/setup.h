/*
 * setup: from a started program with its descriptors (model/gate.h) to a confined egress that is ready to serve.
 *
 * Waits for the supervisor's set-up and, where the policy names a credential, for the vault's grants. Everything that
 * opens a file (resolver, TLS library) happens here, before the role is confined; nothing of the relay's or of an
 * upstream is read before that.
 */
#ifndef CORDON_GATE_EGRESS_SETUP_H
#define CORDON_GATE_EGRESS_SETUP_H

#include "base/error.h"

struct egress;

/* After a failure egress_done() frees what there is. */
int egress_setup(struct egress *e, struct error *err);

#endif
