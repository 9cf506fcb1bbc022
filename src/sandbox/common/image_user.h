/*
 * image_user: the user namespace of an image's workload, below that of PID 1.
 *
 * Its ids are the image's. In it the workload's root has capabilities, over files, ids and processes of the sandbox,
 * and none over PID 1, the mounts, the network or the namespaces, which belong to PID 1's.
 */
#ifndef CORDON_SANDBOX_IMAGE_USER_H
#define CORDON_SANDBOX_IMAGE_USER_H

#include <stdint.h>

#include "base/error.h"
#include "model/plan.h"

/* shift: the image's 0 in PID 1's namespace; the others follow it. With the limit of processes. An fd, or -1. From now
 * on we cannot be looked at. */
int image_user_make(const struct plan *p, uint32_t shift, struct error *err);

/* The same from outside of the sandbox, by root of the host: its ids are the image's on the host, and it belongs to PID
 * 1's. An fd, or -1. */
int image_user_make_for(const struct plan *p, uint32_t init, struct error *err);

#endif
