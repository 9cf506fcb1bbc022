/*
 * image_build: an image from a folder with a Dockerfile, for the operator: `cordon image build`.
 *
 * The same as the build phase of a task, with the same checks: the folder is copied first (stage.h), and only the copy
 * is read; what a Dockerfile may not do is refused with its line; each RUN is a sandbox under the operator's policy for
 * the phase build. What RUNs print goes to a file; where one fails, its last lines are told.
 */
#ifndef CORDON_TASK_IMAGE_BUILD_H
#define CORDON_TASK_IMAGE_BUILD_H

#include "task/attend.h"
#include "task/build.h"

struct image_build {
	const char *name;	 /* of the image */
	const char *dir;	 /* with a Dockerfile in it */
	const char *const *args; /* "NAME=VALUE", NULL-terminated; NULL: none */
	const char *scratch;	 /* a folder of the user's own, where a private one can be made */
	const struct task_launcher *launcher;
	const struct task_progress *progress;
	void (*note)(void *arg, const char *text); /* something that a person should know; not escaped */
	void *arg;
};

/* *ret_signal: what it was interrupted by, or 0. ERROR_INPUT: the folder or its Dockerfile is refused; what else is
 * wrong with them was noted. */
int image_build(const struct image_build *req, struct build_result *ret, int *ret_signal, struct error *err);

#endif
