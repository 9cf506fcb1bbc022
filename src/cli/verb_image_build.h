/*
 * cordon image build: an image from a folder with a Dockerfile (task/image_build.h).
 */
#ifndef CORDON_CLI_VERB_IMAGE_BUILD_H
#define CORDON_CLI_VERB_IMAGE_BUILD_H

#include "cli/cli.h"

extern const struct option verb_image_build_options[];
int verb_image_build(struct call *call, struct error *err);

#endif
