/*
 * verb_task: cordon task check, what can be said of a benchmark task before anything of it runs.
 */
#ifndef CORDON_VERB_TASK_H
#define CORDON_VERB_TASK_H

#include "cli/cli.h"

extern const struct option verb_task_check_options[];
int verb_task_check(struct call *call, struct error *err);

#endif
