/*
 * image: the image of a box's container: the places of its root and nothing else, made here, never pulled.
 *
 * It is named after the digest of what is in it, so that runs which show the same places share one, and a run that
 * finds none makes it. Removing images costs the next run some time and nothing else.
 */
#ifndef CORDON_DOCKER_IMAGE_H
#define CORDON_DOCKER_IMAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sandbox/docker/engine.h"

#define IMAGE_REPOSITORY "cordon-root"

enum { IMAGE_KEPT = 64 };

struct docker_image {
	struct buf tar;
	char digest[SHA256_HEX];
	char name[sizeof(IMAGE_REPOSITORY ":") + SHA256_HEX];
};

/* root: the folder. docker_image_done() it, also after a failure. */
int docker_image_init(struct docker_image *i, int root, struct error *err);
void docker_image_done(struct docker_image *i);

/* The engine has it after this. Where it has more than IMAGE_KEPT of ours, the oldest that no container uses are
 * removed. */
int docker_image_make(const struct docker_image *i, const struct engine *e, struct error *err);

#endif
