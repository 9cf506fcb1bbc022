/*
 * pid1_image: PID 1's part of making a sandbox whose root is an image.
 *
 * PID 1 is inside 0 on the host's side, and so is the workload's root; what keeps them apart is the user namespace that
 * the workload has for itself below PID 1's. It has capabilities there, over files, ids and processes of the sandbox,
 * and none over PID 1, the mounts, the network or the namespaces: those belong to PID 1's.
 */
#ifndef CORDON_NATIVE_PID1_IMAGE_H
#define CORDON_NATIVE_PID1_IMAGE_H

#include "model/plan.h"
#include "sandbox/common/tell.h"
#include "base/error.h"

/* Waits for the ids and takes them on; builds the root and enters it; tells which mount points were made. */
int pid1_image_root(const struct plan *p, struct tell *t, struct error *err);

/* A network namespace of our own. Low ports are everybody's there: the capability for them would be over PID 1's
 * namespace. */
int pid1_image_net(const struct plan *p, struct error *err);

/* image_user_make() in a user namespace that is another's, too, and in which that one lets nobody make any. */
int pid1_image_user_joined(const struct plan *p, struct error *err);

#endif
