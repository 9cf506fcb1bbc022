/*
 * verb_run: `cordon run`.
 */
#ifndef CORDON_CLI_VERB_RUN_H
#define CORDON_CLI_VERB_RUN_H

#include "cli/cli.h"

extern const struct option verb_run_options[];
int verb_run(struct call *call, struct error *err);

#endif
