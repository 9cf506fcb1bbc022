/*
 * name: what an image is called, as a Dockerfile's FROM and `docker pull` say it.
 *
 * [HOST[:PORT]/]PATH[:TAG][@sha256:HEX]. The canonical form has everything that was left out: "debian" is
 * "docker.io/library/debian:latest". With a digest the tag means nothing and is dropped, as Docker does it. The short
 * form is what a person would write for it.
 */
#ifndef CORDON_IMAGE_NAME_H
#define CORDON_IMAGE_NAME_H

#include <stdbool.h>

#include "base/error.h"
#include "base/sv.h"

enum { IMAGE_NAME_MAX = 250, IMAGE_DIGEST = 72 /* "sha256:", 64 digits and NUL */ };

/* -1: ERROR_INPUT, saying what is wrong with it. */
int image_name_canonical(struct sv name, char ret[IMAGE_NAME_MAX + 1], struct error *err);

/* Of a canonical name. */
void image_name_short(const char *canonical, char ret[IMAGE_NAME_MAX + 1]);

/* "sha256:" and 64 lower-case digits? */
bool image_is_digest(struct sv s);

#endif
