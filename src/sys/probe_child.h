/*
 * probe_child: an attempt in a child of its own, so that it can fail, hang or be killed and leave nothing behind.
 *
 * probe_run() makes a child in the namespaces asked for (0: none; with any, a user namespace comes with them, our ids
 * mapped to 0), calls fn(arg) in it, and returns what it returned: >= 0 or -errno. The child gets PROBE_TIMEOUT_MS;
 * then it is killed (-ETIMEDOUT). One that a signal ends is -ECHILD, one that a seccomp filter kills -ENOSYS. It dies
 * with us. fn runs in a copy of our memory and must not use stdio. Not for use in a program with threads.
 */
#ifndef CORDON_SYS_PROBE_CHILD_H
#define CORDON_SYS_PROBE_CHILD_H

#include <stdint.h>

enum { PROBE_TIMEOUT_MS = 2000 };

int probe_run(uint64_t namespaces, int (*fn)(const void *arg), const void *arg);

#endif
