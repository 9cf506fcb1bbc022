/*
 * verb_why: cordon why, one question to a policy.
 */
#ifndef CORDON_VERB_WHY_H
#define CORDON_VERB_WHY_H

#include "cli/cli.h"

extern const struct option verb_why_options[];
int verb_why(struct call *call, struct error *err);

#endif
