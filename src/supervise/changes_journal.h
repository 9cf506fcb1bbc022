/*
 * changes_journal: the renames of an apply, each of which can be undone, and the file that remembers them. For
 * changes_apply.c only.
 *
 * The journal lies in the run's state folder, not in the work folder: whoever can write to the work folder (another
 * sandbox, for one) must not be able to hand us a list of renames. It is replaced as a whole (write, fsync, rename,
 * fsync) when its state changes and never in between: whether a step was taken shows from the inode numbers at both
 * ends of it.
 *
 *   STAGING   the staging folder may exist and holds nothing of the host's: remove it
 *   APPLYING  any number of steps from the first on may have been taken: undo them, last one first
 *   DONE      all were taken and are on disk: remove the staging folder, which now holds what was replaced
 *
 * The host works on while steps are taken and undone. What it changed meanwhile is never put away with the staging
 * folder: where its version stands in the way of an older one, or it changed what a step had brought, the one that
 * cannot have the name is kept beside, as KEPT_NAME in the work folder.
 *
 * Steps name things below the work folder by path, opened without following links, and in the staging folder by a slot
 * number. Undoing what was not done is no error, so it can be interrupted and begun again.
 */
#ifndef CORDON_SUPERVISE_CHANGES_JOURNAL_H
#define CORDON_SUPERVISE_CHANGES_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/arena.h"

enum step_kind {
	STEP_MODE, /* path: mode[0] becomes mode[1] */
	STEP_TAKE, /* path goes to its slot */
	STEP_PUT,  /* its slot goes to path, where nothing is */
	STEP_SWAP, /* both change places */
	STEP_KINDS
};

struct change;

struct step {
	uint32_t kind;
	uint32_t slot;
	uint32_t mode[2];
	uint64_t ino; /* of the object whose mode changes, that is taken, or that is in the slot before a PUT or SWAP */
	const char *path;
	const struct change *change; /* what the step is for; not stored */
};

enum journal_state { JOURNAL_STAGING, JOURNAL_APPLYING, JOURNAL_DONE, JOURNAL_STATES };

struct journal {
	uint32_t state;
	uint64_t dev, ino; /* of the work folder */
	const char *root;    /* its path, by which it is found again; may be wrong by then */
	const char *staging; /* name of the staging folder in it */
	struct timespec staged; /* nothing in the staging folder changed later */
	struct step *steps;
	size_t n;
};

/* Each: 0 or -errno. */
int journal_store(int state_fd, const struct journal *j);
int journal_remove(int state_fd);
/* 1: read into *ret, all of it in the arena; 0: there is none; -EBADMSG: it is damaged. */
int journal_load(int state_fd, struct arena *a, struct journal *ret);

/* The folder is the one that the journal speaks of. Numbers of devices are given anew with every mount: where that
 * differs, the staging folder, whose name nobody can guess, must stand in it. */
bool journal_is_of(const struct journal *j, int fd);

/* Both ends of a step. */
struct site {
	int lower;
	int staging;
	const struct journal *journal;
};

#define KEPT_NAME "cordon-kept-"

enum { KEPT_LEN = sizeof(KEPT_NAME) + 32 };

/* 0 or -errno: -EEXIST where something is in the way of a PUT. */
int step_do(const struct site *site, const struct step *s);
/* 0, or 1: something was kept, under this name. -errno: it must be tried again. */
int step_undo(const struct site *site, const struct step *s, char kept[KEPT_LEN]);

/* Opens the folder that holds path (O_PATH) and points *ret_name at the last component. An fd or -errno. */
int open_parent(int root, const char *path, const char **ret_name);

enum { SLOT_NAME = 12 };
const char *slot_name(char out[SLOT_NAME], uint32_t slot);

#endif
