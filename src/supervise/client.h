/*
 * client: `cordon exec`: a further command in a running sandbox, with our terminal, signals and exit status.
 */
#ifndef CORDON_SUPERVISE_CLIENT_H
#define CORDON_SUPERVISE_CLIENT_H

#include <stdbool.h>

#include "base/error.h"

/* sock: from control_connect(). collect: files cannot be passed in to be written (stdio.h). The command's exit status, or -1. */
int client_exec(int sock, char *const *argv, bool collect, struct error *err);

/* `cordon policy push`: the file at path (absolute) is the run's policy from now on. 0, or -1: why not. */
int client_push(int sock, const char *path, struct error *err);

#endif
