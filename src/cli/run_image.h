/*
 * run_image: `cordon run --image`: an image of the store as the root of one run, and a folder for what that changes,
 * which goes with it.
 *
 * The folder is below the state folder (uppers/), locked while we live; what runs that were killed left there is
 * removed by the next.
 */
#ifndef CORDON_CLI_RUN_IMAGE_H
#define CORDON_CLI_RUN_IMAGE_H

#include <limits.h>

#include "base/error.h"
#include "image/store.h"
#include "image/users.h"
#include "model/image.h"

struct run_image {
	struct image_root root;
	/* run_image.c's */
	struct image_store *store;
	struct image image;
	struct image_user user;
	int uppers, folder; /* fds; the folder's is locked */
	char name[16], upper[PATH_MAX], work[PATH_MAX];
	char home[sizeof("HOME=") + sizeof(((struct image_user *)0)->home)];
	const char **env;
};

/* state: Cordon's state folder. Where it fails nothing is left. */
int run_image_open(struct run_image *r, const char *name, const char *state, struct error *err);
/* Nobody is inside any more. */
void run_image_close(struct run_image *r);

#endif
