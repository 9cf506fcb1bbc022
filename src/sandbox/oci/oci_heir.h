/*
 * oci_heir: ends a sandbox whose supervisor was killed, from outside.
 *
 * Everywhere else cordon-init sees to that, which nobody inside can stop. gVisor's kernel lets root of an image stop
 * PID 1 as any other process. So a child of the supervisor's waits for its end, in a session of its own, and ends the
 * runtime and all that came of it, unless they have ended by themselves.
 */
#ifndef CORDON_SANDBOX_OCI_HEIR_H
#define CORDON_SANDBOX_OCI_HEIR_H

#include "base/error.h"
#include "sandbox/common/box.h"

/* When the runtime was started (b->runtime, b->runtime_pidfd), before anybody connects. end: does it; of b it may use
 * these two, and join.leader. */
int oci_heir_start(struct box *b, void (*end)(struct box *b), struct error *err);
/* The supervisor has ended it itself, or sees to it that it ends: kills the heir, who is to be dismissed yet. */
void oci_heir_end(const struct box *b);
/* The same, and waits for the heir. */
void oci_heir_dismiss(struct box *b);

#endif
