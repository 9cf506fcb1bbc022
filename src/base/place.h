/*
 * place: a file that a person asked for, and that is written when a run has ended.
 *
 * What runs meanwhile may rename, replace and link what lies on its path. So the folder is held by fd from before the
 * run, which also tells then whether a file can be made in it, and nothing that has the file's name in the end is
 * opened: a new file takes its place, whole or not at all, with mode 0600.
 *
 * What ran before may have left links: a folder on the way that is one is refused. Those of the system (/var/run) are
 * followed: they stand in a folder where only root makes names, and for root, whose sandboxes write as root, in / or
 * /var.
 */
#ifndef CORDON_BASE_PLACE_H
#define CORDON_BASE_PLACE_H

#include <limits.h>

#include "base/sv.h"

struct place {
	int dir; /* -1: none */
	char name[NAME_MAX + 1];
};

/* The folder of a path, and *ret_name in path: the last part. -errno: -ELOOP for a link on the way, -EISDIR where there
 * is no last part. */
int place_folder(const char *path, const char **ret_name);

/* Proves that a file can be made there. A file of that name is replaced in the end; a folder is refused: -EISDIR. 0 or
 * -errno. */
int place_open(const char *path, struct place *ret);
void place_done(struct place *p);

int place_write(const struct place *p, struct sv bytes); /* 0 or -errno */

#endif
