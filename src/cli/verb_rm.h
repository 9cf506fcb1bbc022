/*
 * verb_rm: forget runs that have ended: their log, and what is left of their changes.
 *
 * A run that is going on is never removed, nor one that is just being started. Changes that were not applied are
 * somebody's work: --finished leaves such runs alone and says so; named by its id a run goes, whatever it holds.
 */
#ifndef CORDON_CLI_VERB_RM_H
#define CORDON_CLI_VERB_RM_H

#include "cli/cli.h"

extern const struct option verb_rm_options[];
int verb_rm(struct call *call, struct error *err);

#endif
