/*
 * workspace: what an agent changed in its work folder, as a unified diff that `patch -p1` takes.
 *
 * From the upper folder against the image's layers (carry_view.h). Files of more than WORKSPACE_FILE bytes are named
 * and not shown, as are binary ones (supervise/textdiff.h). Nothing is followed.
 *
 * The whole is bounded, too, for what it takes is the host's and not the task's: a file of many names is shown under
 * each. It has at most WORKSPACE_BYTES. What does not fit, or would take more than WORKSPACE_WORK with all before it,
 * is named and not shown, and where not even names fit it is counted; after WORKSPACE_ENTRIES entries, or a signal,
 * nothing more is looked at. Lines at its end say each of these.
 */
#ifndef CORDON_TASK_WORKSPACE_H
#define CORDON_TASK_WORKSPACE_H

#include <stdio.h>

#include "base/error.h"

enum { WORKSPACE_FILE = 1 << 20, WORKSPACE_ENTRIES = 5000, WORKSPACE_BYTES = 64 << 20, WORKSPACE_WORK = 200000000 };

/* workdir: inside, absolute and canonical. out: a file or a buffer, which knows how long it is; write errors are its
 * own. stop: a descriptor that can be read from where nobody wants to wait any longer; nothing is read from it. -1:
 * there is none. */
int workspace_diff(int upper, const char *const *layers, const char *workdir, FILE *out, int stop, struct error *err);

#endif
