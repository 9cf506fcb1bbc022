/*
 * runtime_pick: the runtime that a run gets, decided before anything of it is made.
 *
 * Candidates come from policy and command line (policy/runtime_choice.h). The first one whose health check passes is
 * taken. One that the policy cannot be enforced on (policy/parity.h) is never taken: as the runtime that is wanted it
 * ends the run, since that is the policy's fault and not the machine's; as a fallback it is passed over. Where none is
 * left, the run is refused, with the reason of each.
 *
 * A fallback is loud: on standard error here, and in the log (launch_events.h has the fields).
 */
#ifndef CORDON_CLI_RUNTIME_PICK_H
#define CORDON_CLI_RUNTIME_PICK_H

#include "base/error.h"
#include "cli/cli_policy.h"
#include "policy/runtime_choice.h"
#include "sandbox/common/box.h"

struct runtime_pick {
	enum runtime runtime;
	const struct box_backend *backend; /* NULL: native */
	const char *category;		   /* NULL: none was given */
	char reason[320];
	enum runtime fallback_from; /* what was wanted; RUNTIME_AUTO: this is it */
	char fallback[720];	    /* that in a sentence, and why; "" */
};

/* asked and category: of the command line, as the policy was loaded with (cli_policy.h); either may be NULL. dry:
 * nothing is started; a runtime that is there, and of which no failure is known, will do. */
int runtime_pick_quietly(const struct cli_policy *policy, const char *asked, const char *category, bool dry,
			 struct runtime_pick *ret, struct error *err);

/* The same with the call's --runtime and --category; says a fallback. */
int runtime_pick(const struct call *call, const struct cli_policy *policy, bool dry, struct runtime_pick *ret,
		 struct error *err);

/* What differs on the runtime from native for this policy: once to each user and runtime on standard error. */
void runtime_pick_note(const struct call *call, const struct cli_policy *policy, const struct runtime_pick *pick,
		       bool dry);

#endif
