/*
 * policy_image: what a policy means for a sandbox whose root is an image, of which nothing is the host's.
 *
 * Built-in rules and shipped profiles speak of the host's files, and ask for nothing there. What a file of the user's
 * or the operator's asks for is enforced, or refused by name.
 */
#ifndef CORDON_POLICY_IMAGE_H
#define CORDON_POLICY_IMAGE_H

#include "base/error.h"
#include "model/policy.h"

/* ERROR_DENIED with place, key and what would do it. */
int policy_image_refused(const struct policy *p, struct error *err);

/* How much a run may change in its image and the folders that it may write to: the lesser of filesystem.tmp_size, where
 * a file says it, and storage (0: no limit). */
uint64_t policy_image_storage(const struct policy *p, uint64_t storage);

#endif
