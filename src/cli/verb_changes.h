/*
 * verb_changes: `cordon diff` and `cordon apply`: what a run did to its copy of the work folder.
 */
#ifndef CORDON_CLI_VERB_CHANGES_H
#define CORDON_CLI_VERB_CHANGES_H

#include "cli/cli.h"

extern const struct option verb_diff_options[];
extern const struct option verb_apply_options[];
int verb_diff(struct call *call, struct error *err);
int verb_apply(struct call *call, struct error *err);

#endif
