/*
 * verb_env: cordon env, the environment that a sandbox would get.
 */
#ifndef CORDON_VERB_ENV_H
#define CORDON_VERB_ENV_H

#include "cli/cli.h"

extern const struct option verb_env_options[];
int verb_env(struct call *call, struct error *err);

#endif
