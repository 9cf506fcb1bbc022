/*
 * state: what is kept of each run, below $XDG_STATE_HOME/cordon/runs/ID, readable by its owner only.
 *
 *   run          JSON: id, pid, started, command, work folder and so on; locked (flock) while the supervisor lives
 *   end          JSON: when, how and with what it ended; missing while it runs, or after a kill -9
 *   policy       the effective policy's encoding, for diff and apply
 *   audit.jsonl  the log
 *   layers/      upper and work, the copy-on-write layer; copy/: a plain copy in its place
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
	int lock;   /* the run file, locked */
};

/* The runs folder, made where it is missing (0700). Refused where others own or may enter it. free() it. */
int state_root(char **ret, struct error *err);

/* A new run. state_write_run() must follow. */
int state_new(const char *root, struct state *ret, struct error *err);
int state_write_run(struct state *s, struct sv json, struct error *err);
int state_write_file(const struct state *s, const char *name, struct sv bytes, struct error *err);
void state_done(struct state *s); /* unlocks, closes; the folder stays */
/* Removes the folder and everything in it. */
void state_remove(struct state *s);

/* An existing run. running: its supervisor lives. */
int state_open(const char *root, const char *id, struct state *ret, bool *ret_running, struct error *err);

/* Calls fn for each run, newest first; fn returns 0 to go on. */
int state_each(const char *root, int (*fn)(void *arg, const char *id), void *arg, struct error *err);

/* Removes what finished runs left beyond the newest STATE_KEEP, and the scratch of those that were killed. */
void state_sweep(const char *root);

/* Removes a tree below dir, never following links; mode 0 folders included. */
void state_remove_tree(int dir, const char *name);

#endif
