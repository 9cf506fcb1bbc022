/*
 * box_root: the root folder of a container, shared by boxes that have the same places. For box.c.
 *
 * ROOT/.roots/DIGEST is made under another name and renamed, and never changed again: containers see it read-only.
 * Nobody but us and those who run in boxes can get there.
 */
#ifndef CORDON_SANDBOX_BOX_ROOT_H
#define CORDON_SANDBOX_BOX_ROOT_H

#include "sandbox/common/box.h"

enum { BOX_ROOTS_KEEP = 32 };

/* Sets b->root and b->root_fd. */
int box_make_root(struct box *b, const char *root, struct error *err);

/* Removes those whose maker was killed, and, when there are more than BOX_ROOTS_KEEP, those that nobody uses. */
void box_sweep_roots(const char *root);

#endif
