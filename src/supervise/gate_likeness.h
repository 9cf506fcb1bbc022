/*
 * gate_likeness: what shows a kept sandbox's gateway that a run started here and now would have the same: the same
 * credentials with the same values, bound and injected the same way, and the same gateway.yaml.
 *
 * Made by a witness (vault/witness.h), for one that asks; the sandbox's own gateway compares (gate_compare()). Nothing
 * here is a value, and nothing of it is to be stored or logged: who has it can try guesses.
 */
#ifndef CORDON_SUPERVISE_GATE_LIKENESS_H
#define CORDON_SUPERVISE_GATE_LIKENESS_H

#include "base/error.h"
#include "supervise/gate.h"

enum { GATE_LIKENESS_BYTES = 32, GATE_LIKENESS_MS = 10000 };

struct gate_likeness {
	unsigned char nonce[GATE_LIKENESS_BYTES], mac[GATE_LIKENESS_BYTES];
};

/* For a policy that needs a gateway. -1: there is nothing to show, as where a file is unreadable: such a run would be
 * told so at its start. */
int gate_likeness(const struct gate_request *req, struct gate_likeness *ret, struct error *err);

#endif
