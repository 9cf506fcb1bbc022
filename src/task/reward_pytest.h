/*
 * reward_pytest: what pytest printed, as one number (reward.h says the rule). A pure function.
 */
#ifndef CORDON_TASK_REWARD_PYTEST_H
#define CORDON_TASK_REWARD_PYTEST_H

#include "base/error.h"
#include "base/sv.h"

int reward_of_pytest(struct sv output, double *ret, struct error *err);
/* The same of a script that did not end with 0: nobody passed unless the summary is the last that was printed. */
int reward_of_pytest_last(struct sv output, double *ret, struct error *err);

#endif
