/*
 * workspace: what an agent changed in its work folder, as a unified diff that `patch -p1` takes.
 *
 * From the upper folder against the image's layers (carry_view.h). Bounded: files of more than WORKSPACE_FILE bytes are named and not shown, as are binary ones (supervise/textdiff.h); after WORKSPACE_ENTRIES entries it ends with a line
 * that says so. Nothing is followed.
 */
#ifndef CORDON_TASK_WORKSPACE_H
#define CORDON_TASK_WORKSPACE_H

#include <stdio.h>

#include "base/error.h"

enum { WORKSPACE_FILE = 1 << 20, WORKSPACE_ENTRIES = 5000 };

/* workdir: inside, absolute and canonical. Write errors are out's. */
int workspace_diff(int upper, const char *const *layers, const char *workdir, FILE *out, struct error *err);

#endif
