/*
 * serve: cordon-init as PID 1 of a container, under the orders of a supervisor outside (model/box.h).
 *
 * It connects to the control socket, takes its orders, opens the ports that lead to the door, gives up what
 * capabilities it needs no more, and from then on does what it is told: starts commands, passes signals on, tells of
 * their ends. The end of the first command is its own, and so is the end of the connection; both are the end of
 * everything inside.
 *
 * It cannot be dumped or traced, and as PID 1 not be stopped or killed from inside (by root of an image it can, where
 * the kernel is gVisor's: the host's side does not depend on it, sandbox/oci/oci_heir.h). It holds its connection, its
 * ports and the kernel's own descriptors, and nothing of the host's besides; commands get their three.
 */
#ifndef CORDON_INIT_SERVE_H
#define CORDON_INIT_SERVE_H

#include "base/error.h"

/* Returns only where it never got to its orders. Later failures are told to the supervisor. */
int serve(const char *control, struct error *err);

#endif
