/*
 * submounts: what is mounted below the folders that a box shows, as mounts of its own.
 *
 * Engines before API 1.44 make only the topmost mount of a bind read-only. For them each file system below a folder is
 * shown by itself, read-only like the folder.
 */
#ifndef CORDON_DOCKER_SUBMOUNTS_H
#define CORDON_DOCKER_SUBMOUNTS_H

#include "base/error.h"
#include "base/sv.h"
#include "sandbox/common/box.h"

enum { SUBMOUNTS_MAX = 512 };

/* mountinfo: of proc(5). view becomes the box with these mounts behind the folders that they are in; what it points to
 * is the box's, or in its arena. */
int submounts_show(const struct box *b, struct sv mountinfo, struct box *view, struct error *err);

#endif
