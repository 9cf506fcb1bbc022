/*
 * verb_task_past: results of tasks that are kept: task ls, task show, task rm.
 */
#ifndef CORDON_CLI_VERB_TASK_PAST_H
#define CORDON_CLI_VERB_TASK_PAST_H

#include "cli/cli.h"

extern const struct option verb_task_ls_options[], verb_task_show_options[], verb_task_rm_options[];
int verb_task_ls(struct call *call, struct error *err);
int verb_task_show(struct call *call, struct error *err);
int verb_task_rm(struct call *call, struct error *err);

#endif
