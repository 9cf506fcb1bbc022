/*
 * state: what is kept of each run, below $XDG_STATE_HOME/cordon/runs/ID, readable by its owner only.
 *
 *   audit.jsonl  the log; locked (flock) while the supervisor lives. Its first line says what the run is, its last how
 * it ended policy       the effective policy's encoding, where there are changes to diff and apply collect      is
 * there where files must not be passed into the sandbox to be written, but what is printed is collected layers/ upper
 * and work, the copy-on-write layer; copy/: a plain copy in its place; copied: what that was made of (copied.h)
 *   fleeting     is there while a run works on such a copy that is to be as a layer in memory: when its supervisor is
 * killed, what it changed is gone
 *
 * Beside them, .live/ID: what the run may write and follows, while it lives (cli/launch_live.h).
 *
 * An id is 8 hex digits. Everything is opened below the runs folder by fd; ids from the command line are checked first.
 */
#ifndef CORDON_SUPERVISE_STATE_H
#define CORDON_SUPERVISE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/sv.h"

enum { STATE_ID = 9, STATE_KEEP = 200 };

struct state {
	char id[STATE_ID];
	char *path; /* of the run's folder, absolute */
	int dir;
	int lock;   /* the log, locked */
};

/* The runs folder, made where it is missing (0700). Refused where others own or may enter it. free() it. */
int state_root(char **ret, struct error *err);

/* A new id. */
void state_id(char id[STATE_ID]);
/* A new run with s->id. state_lock() must follow when its log is there. */
int state_new(const char *root, struct state *s, struct error *err);
int state_lock(struct state *s, struct error *err);
int state_write_file(const struct state *s, const char *name, struct sv bytes, struct error *err);
void state_done(struct state *s); /* unlocks, closes; the folder stays */
/* Removes the folder and everything in it. */
void state_remove(struct state *s);

int state_set_collect(const struct state *s, struct error *err);
bool state_is_collect(const struct state *s);

/* What a run wrote to its copies of folders, and did not bring back: the user's work, which is never swept away. */
#define STATE_STAGED "staged-"
#define STATE_COPY "copy"
#define STATE_FLEETING "fleeting"
#define STATE_APPLIED "applied" /* what came back, and is being removed */
#define STATE_JOURNAL "apply.journal" /* of an apply that was interrupted: changes_journal.h */
bool state_holds_work(const struct state *s);

/* An existing run. running: its supervisor lives. */
int state_open(const char *root, const char *id, struct state *ret, bool *ret_running, struct error *err);

/* Calls fn for each run, newest first; fn returns 0 to go on. */
int state_each(const char *root, int (*fn)(void *arg, const char *id), void *arg, struct error *err);

/* Removes what finished runs left beyond the newest STATE_KEEP, the scratch of those that were killed, and all of those
 * that were killed before they began. */
void state_sweep(const char *root);

#endif
