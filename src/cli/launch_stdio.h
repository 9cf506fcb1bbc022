/*
 * launch_stdio: what a run was given as standard input, output and error, and whether it may be passed on.
 */
#ifndef CORDON_CLI_LAUNCH_STDIO_H
#define CORDON_CLI_LAUNCH_STDIO_H

#include <stdint.h>

#include "base/error.h"
#include "sandbox/native/native.h"

/* Sets stdio, tty, rows and columns. uid: who the workload is on this machine. Terminals are replaced by the sandbox's
 * own; a folder would be a way out, and so would some sockets: these are refused. */
int launch_stdio(uint32_t uid, struct native_request *ret, struct error *err);

#endif
