/*
 * run_check: what `cordon run` asks of a policy beyond its being valid, and what `policy check` therefore says in advance.
 *
 * A policy can be right and still ask for what this version or the native runtime cannot give. `run` refuses such a policy; `policy check` warns with the
 * same words, because both call the same code. Notes are given to `say`, one sentence each, without a newline and without "cordon: ".
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

/* asked: --runtime, category: --category; either may be NULL. Isolation that is missing is an error, unless policy names the fallback; that is said. */
int run_check_runtime(const struct policy *p, const char *asked, const char *category, const struct run_check_to *to, struct error *err);

/* Says what one file opens and shuts at once: rules under a network.mode of none. (A mode of none on top of another file's rules is how one file shuts what another opens.) */
void run_check_network(const struct policy *p, const struct run_check_to *to);

/* All of it: every category, whatever making a plan would refuse, and credentials that the operator has not. */
void run_check_all(const struct cli_policy *p, const struct run_check_to *to);

#endif
