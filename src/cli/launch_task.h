/*
 * launch_task: starts the sandboxes of a task run (task/launcher.h), each by a child that is its supervisor.
 *
 * A child is a copy of us that calls launch(): the policy of the command line, with the operator's phase laid over it,
 * cut down to what the task asks for. Values of credentials that are granted to a verifier are fetched in that child
 * alone, and end with it. What it knows at the end comes back through a pipe.
 */
#ifndef CORDON_CLI_LAUNCH_TASK_H
#define CORDON_CLI_LAUNCH_TASK_H

#include "cli/cli.h"
#include "task/launcher.h"

/* call: of `task run`, for --policy, --profile and --runtime; borrowed. */
void launch_task_init(const struct call *call, struct task_launcher *ret);

#endif
