/*
 * places: the folders, empty files, links and small made files of a sandbox's root, on which everything else is
 * mounted.
 *
 * Made while nothing else is there: names are looked up plainly, because nobody but us can have made anything.
 */
#ifndef CORDON_SANDBOX_PLACES_H
#define CORDON_SANDBOX_PLACES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/sha256.h"
#include "model/plan.h"

/* In the root: `file` and `folder` in it may be read by nobody, and are laid over what is hidden. */
#define PLACES_MASKS ".masks"

/* Does op need a place in the root that is made before anything is mounted? */
bool places_has(const struct plan *p, const struct plan_op *op);
/* Makes all such places in the current folder, which is empty. */
int places_make(const struct plan *p, struct error *err);

/* Of all that they depend on: plans with the same have the same places. -ENOTSUP: they are for one run alone (the
 * gateway's certificates). */
int places_digest(const struct plan *p, char out[SHA256_HEX]);

#endif
