/*
 * launch_advice: why CMD could not be started, seen from outside.
 *
 * The sandbox only knows that a name is not there, or that the kernel refused it. Out here one can look at the host and at the policy, and say which of the
 * two it is and what helps. Looks at the host's files, changes nothing. Errors of other kinds are left as they are.
 */
#ifndef CORDON_CLI_LAUNCH_ADVICE_H
#define CORDON_CLI_LAUNCH_ADVICE_H

#include "base/error.h"
#include "model/policy.h"

/* The command's name as it was given, the work folder (NULL: none), and where the command starts. */
struct advice_about {
	const char *name, *workdir, *cwd;
};

/* Gives ERROR_NOT_FOUND and ERROR_NOT_EXEC a better message; kind and code stay. */
void launch_advice(const struct advice_about *about, const struct policy *policy, struct error *err);

#endif
