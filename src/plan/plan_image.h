/*
 * plan_image: what a sandbox holds whose root is an image: the layers, its own /proc and /dev, a few made files over
 * what the image has there, and the mounts that were asked for. Nothing else of the host is shown, and nothing of the
 * host is writable, so there is no name to guard: filesystem.read, write, deny and workdir of the policy speak of the
 * host's files, and process.user of a sandbox that is made of them.
 *
 * Whatever the image and the request say is checked here as far as it is text; PID 1 looks at what the layers hold
 * (sandbox/native/root_image.h).
 */
#ifndef CORDON_PLAN_IMAGE_H
#define CORDON_PLAN_IMAGE_H

#include "plan/plan_draft.h"

/* Sets plan->image, a copy, with ids and folder of the workload, and adds all steps. */
int plan_image_add(struct draft *d, const struct image_root *image);

#endif
