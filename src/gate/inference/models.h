/*
 * models: may a provider of the policy serve this model, and which one does?
 *
 * The first of `routes` that matches chooses the provider, else it is the one whose base URL was used; its `models` are
 * matched case-sensitively and as a whole. A route to a provider that is not there, or of another kind, is a no. Pure.
 */
#ifndef CORDON_GATE_INFERENCE_MODELS_H
#define CORDON_GATE_INFERENCE_MODELS_H

#include "base/sv.h"
#include "gate/inference/ruling.h"
#include "model/policy.h"

/* *io: the provider that was asked, then the one that serves. 0, or -1 and the ruling. */
int models_choose(const struct pol_inference *inf, struct sv model, const struct provider **io, struct ruling *no);

#endif
