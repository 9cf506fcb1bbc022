/*
 * copy: a plain copy of a work folder, for machines without overlayfs. Files, folders and links; reflinks where the file system has them; never follows a link; no owners,
 * no special files, no setuid. The copy belongs to owner.
 */
#ifndef CORDON_SUPERVISE_COPY_H
#define CORDON_SUPERVISE_COPY_H

#include "base/error.h"

/* Copies from (absolute) to a new folder name in dir. */
int copy_tree(const char *from, int dir, const char *name, struct error *err);

#endif
