/*
 * client: `cordon exec`: a further command in a running sandbox, with our terminal, signals and exit status.
 */
#ifndef CORDON_SUPERVISE_CLIENT_H
#define CORDON_SUPERVISE_CLIENT_H

#include "base/error.h"

/* sock: from control_connect(). The command's exit status, or -1. */
int client_exec(int sock, char *const *argv, struct error *err);

#endif
