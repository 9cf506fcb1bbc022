/*
 * verb_policy: cordon policy check|show|explain|test|diff|import.
 */
#ifndef CORDON_VERB_POLICY_H
#define CORDON_VERB_POLICY_H

#include "cli/cli.h"

extern const struct option verb_policy_own_options[];       /* check, test */
extern const struct option verb_policy_diff_options[];
extern const struct option verb_policy_effective_options[]; /* show, explain */
extern const struct option verb_policy_parity_options[];
extern const struct option verb_policy_import_options[];

int verb_policy_check(struct call *call, struct error *err);
int verb_policy_show(struct call *call, struct error *err);
int verb_policy_explain(struct call *call, struct error *err);
int verb_policy_parity(struct call *call, struct error *err);
int verb_policy_test(struct call *call, struct error *err);
int verb_policy_diff(struct call *call, struct error *err);
int verb_policy_import(struct call *call, struct error *err);

#endif
