/* verb_task_run: `cordon task run`. */
#ifndef CORDON_CLI_VERB_TASK_RUN_H
#define CORDON_CLI_VERB_TASK_RUN_H

#include "cli/cli.h"

extern const struct option verb_task_run_options[];
int verb_task_run(struct call *call, struct error *err);

#endif
