/*
 * oci_start: the process of a runtime, from fork to exec.
 *
 * It has nothing of ours: no descriptor, no variable, no signal disposition, no terminal; its input is /dev/null, its
 * output the box's file `output`. It is in the run's cgroup before it is the runtime, and has written down who it is
 * before that.
 */
#ifndef CORDON_OCI_START_H
#define CORDON_OCI_START_H

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/common/box.h"
#include "sandbox/oci/oci_runtime.h"

#define OCI_CONFIG "config.json"
#define OCI_STATE "state"
#define OCI_LOG "log"
#define OCI_OUTPUT "output"
#define OCI_PROCESS "process"

/* Does the container live in another's kernel, that of the group's leader? Then it does not end with its runtime's
 * processes. */
bool oci_is_guest(const struct box *b, const struct oci_runtime *r);

/* Sets b->runtime and b->runtime_pidfd. A program that cannot be executed ends at once, and says why in the log. */
int oci_start_process(struct box *b, const struct oci_runtime *r, const char *program, struct error *err);

/* Who wrote OCI_PROCESS in the folder dir; false: nobody did. */
bool oci_start_read(const char *dir, pid_t *ret_pid, uint64_t *ret_started);

#endif
