/*
 * create: the document that tells Docker Engine what a box's container is.
 *
 * It holds nothing of the command: that, its environment and its descriptors go to cordon-init by the control socket,
 * and so does not stand in what `docker inspect` shows. Nothing in it asks for a network, a capability, a device, a
 * terminal, a log or a restart.
 *
 * An engine mounts in the order of the targets' depth, not in ours, and takes each target once: what a later mount of
 * the box would cover is left out.
 */
#ifndef CORDON_DOCKER_CREATE_H
#define CORDON_DOCKER_CREATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "sandbox/common/box.h"

struct create {
	const struct box *box;
	const char *image;
	const char *runtime; /* NULL: the engine's default */
	unsigned api;	     /* 1.api */
	bool rootless;	     /* root of the engine's user namespace is us */
};

int create_document(const struct create *c, struct buf *out, struct error *err);

/* What the engine says of the container that it made, one of its warnings: -1 where that is that a limit does not hold.
 * swaps: this machine has swap. */
int create_check_warning(const char *warning, bool swaps, struct error *err);

#endif
