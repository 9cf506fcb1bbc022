/*
 * launch_advice: why CMD could not be started, seen from outside.
 *
 * The sandbox only knows that a name is not there, or that the kernel refused it. Out here one can look at the host and
 * at the policy, and say which of the two it is and what helps; or that no sandbox can be made, since the kernel lacks
 * what each needs. Looks at the host's files, changes nothing. Errors of other kinds are left as they are.
 */
#ifndef CORDON_CLI_LAUNCH_ADVICE_H
#define CORDON_CLI_LAUNCH_ADVICE_H

#include <stdbool.h>

#include "base/error.h"
#include "model/policy.h"

/* The command's name as it was given, the work folder (NULL: none), and where the command starts. image: the root is
 * one, whose files say nothing of the host's, nor these of them. */
struct advice_about {
	const char *name, *workdir, *cwd;
	bool image;
};

/* Gives ERROR_NOT_FOUND and ERROR_NOT_EXEC a better message; kind and code stay. Others as launch_lack(). */
void launch_advice(const struct advice_about *about, const struct policy *policy, struct error *err);

/* An error whose code is ENOSYS becomes ERROR_MISSING with the name of what is missing, where that is something that
 * doctor calls needed. */
void launch_lack(struct error *err);

#endif
