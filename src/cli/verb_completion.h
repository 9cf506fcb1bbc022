/*
 * verb_completion: `cordon completion SHELL` prints a completion script; `cordon man [COMMAND]` (hidden, for `make
 * install`) prints a man page.
 */
#ifndef CORDON_VERB_COMPLETION_H
#define CORDON_VERB_COMPLETION_H

#include "cli/cli.h"

int verb_completion(struct call *call, struct error *err);

int verb_man(struct call *call, struct error *err);
extern const struct option verb_man_options[];

#endif
