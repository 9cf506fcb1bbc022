/*
 * cordon image: the user's images (image/store.h).
 */
#ifndef CORDON_CLI_VERB_IMAGE_H
#define CORDON_CLI_VERB_IMAGE_H

#include "cli/cli.h"

extern const struct option verb_image_import_options[], verb_image_ls_options[], verb_image_inspect_options[],
	verb_image_prune_options[];

int verb_image_import(struct call *call, struct error *err);
int verb_image_ls(struct call *call, struct error *err);
int verb_image_rm(struct call *call, struct error *err);
int verb_image_prune(struct call *call, struct error *err);
int verb_image_inspect(struct call *call, struct error *err);

#endif
