/*
 * launch_environ: the variables that a run's command gets, from the request, its policy and its gateway.
 */
#ifndef CORDON_CLI_LAUNCH_ENVIRON_H
#define CORDON_CLI_LAUNCH_ENVIRON_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/launch.h"
#include "supervise/gate.h"

/* inside: what programs need for the gateway, all zero where there is none. tty: the command has a terminal. The result
 * is in the arena. */
int launch_environ(struct arena *arena, const struct launch_request *req, const struct gate_inside *inside, bool tty,
		   char ***ret, struct error *err);

#endif
