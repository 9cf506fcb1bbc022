/*
 * reward_swebench: what the test scripts of SWE-bench's tasks print in Terminal-Bench 1, as one number. A pure
 * function.
 *
 * One line "SWEBench results starts here", one line "PASSED" (1) or "FAILED" (0), one line "SWEBench results ends
 * here", in this order, and none of the two marks elsewhere. Anything else is no score; but where there is a FAILED
 * between marks, it is 0 whatever else is printed, so that no text of the agent's makes an error of it. As with pytest,
 * a test that runs the agent's code in its own process can be made to say anything.
 */
#ifndef CORDON_TASK_REWARD_SWEBENCH_H
#define CORDON_TASK_REWARD_SWEBENCH_H

#include "base/error.h"
#include "base/sv.h"

int reward_of_swebench(struct sv output, double *ret, struct error *err);

#endif
