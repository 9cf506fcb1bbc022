/*
 * run_check: what `cordon run` asks of a policy beyond its being valid, said in advance by `policy check`.
 *
 * A policy can be right and still ask for what this machine or a runtime cannot give. `run` refuses such a policy;
 * `policy check` warns with the same words, because both call the same code. Notes are given to `say`, one sentence
 * each, without a newline and without "cordon: ".
 */
#ifndef CORDON_CLI_RUN_CHECK_H
#define CORDON_CLI_RUN_CHECK_H

#include "base/error.h"
#include "cli/cli_policy.h"
#include "model/policy.h"

struct run_check_to {
	void (*say)(void *arg, const char *text);
	void *arg;
};

/*
 * What is said when a run starts, and none of it refuses that:
 * - what one file opens and shuts at once: rules under a network.mode of none. (A mode of none on top of another file's
 * rules is how one file shuts what another opens.)
 * - variables of env.pass that can never be passed, of those that are set here
 * - rules that show the whole home, though that is refused as a work folder: a rule is the operator's word, but who
 * wrote ~ may not have thought of ~/.ssh
 * - a work folder that can be written to although a profile of the command line says otherwise, because of what is
 * named behind it
 * - credentials that would never be sent, for the hosts that they are bound to. Reads credentials.yaml where the policy
 * needs a gateway; one that cannot be read is said by who starts that.
 */
void run_check_start(const struct call *call, const struct cli_policy *p, const struct run_check_to *to);

/* True: a run would be refused here. All of it: runtimes that are missing or cannot enforce the policy, for every
 * category that it names; whatever making a plan would refuse, and credentials that the operator has not. */
bool run_check_all(const struct cli_policy *p, const struct run_check_to *to);

#endif
