/*
 * verb_runs: what can be done about runs that were started: ps, exec, stop, logs, diff, apply.
 */
#ifndef CORDON_CLI_VERB_RUNS_H
#define CORDON_CLI_VERB_RUNS_H

#include "cli/cli.h"

extern const struct option verb_ps_options[];
extern const struct option verb_stop_options[];
extern const struct option verb_logs_options[];
int verb_ps(struct call *call, struct error *err);
int verb_exec(struct call *call, struct error *err);
int verb_stop(struct call *call, struct error *err);
int verb_logs(struct call *call, struct error *err);

int verb_policy_push(struct call *call, struct error *err);

#endif
