/*
 * lay: an image of Cordon's as the root of a container.
 *
 * Docker Engine makes roots of its own images only. So a container begins with a root in which there is nothing but
 * places to mount on, and in it cordon-init, which waits for its orders. Before it gets any, a child of ours enters the
 * container's mount namespace, mounts there what other runtimes get as a root (sandbox/common/root_image.h), puts the
 * engine's /proc and /dev and the box's own folder into it, and makes it the root of the namespace: the kernel takes
 * cordon-init along. The layers, the upper folder and the mounts so are the host's own, as with every other runtime:
 * nothing is copied into the engine or out of it.
 *
 * The workload gets a user namespace with the image's ids, which is made here, too, and belongs to cordon-init's id:
 * neither is cordon-init root, nor does it or the container have a capability, of the host's or anybody's. All of it
 * needs to be root of the machine that the engine runs on.
 */
#ifndef CORDON_DOCKER_LAY_H
#define CORDON_DOCKER_LAY_H

#include "sandbox/common/box.h"

/* Can it be done? Who is not root gets one line that says what to do. */
int lay_check(const struct box *b, struct error *err);

/* Fills b->root: what the container begins with. */
int lay_places(const struct box *b, struct error *err);

/* The container runs, and its first process is b->runtime_pidfd. Sets b->userns. */
int lay_image(struct box *b, struct error *err);

#endif
