/*
 * carry_writes: paths that a task's tests write to, as far as their texts say so: redirections, copies, what is opened
 * for writing, folders that are made.
 *
 * What an agent leaves there would be written through (a link), run in the place of what should be there (a folder with
 * a __main__.py for check.py), or read in its place where the tests did not come so far. So it is not carried, unless
 * the instruction names it. It is a list of words, not a shell: of variables those are known that a script gives a
 * plain value. A folder may well be where something is copied to: it is in the way only where it is called as what
 * comes, or ends alike. And a file that the tests speak of before they write it is one that they read, keep, or ask
 * for: it is carried.
 */
#ifndef CORDON_TASK_CARRY_WRITES_H
#define CORDON_TASK_CARRY_WRITES_H

#include "task/carry_judge.h"

enum carry_write { WRITE_FILE, WRITE_COPY, WRITE_FOLDER };

/* Calls fn for each path that a text names so, as it stands there; from: what is copied, for a WRITE_COPY. shell: a
 * script of a shell, whose relative paths count; here: where its last `cd` went, as it stands there (n 0: nowhere yet).
 * before: all of the text that comes before the command. All of them live until fn returns. */
typedef int write_fn(void *arg, enum carry_write is, struct sv path, struct sv from, struct sv here, struct sv before);
int carry_writes_in(struct sv text, bool shell, write_fn *fn, void *arg);

/* Behind carry_judge_init()'s work folder. 0 or -ENOMEM. */
int carry_writes_init(struct carry *c);

/* Is c->at in the place of what tests write? Or a folder that is called as one of their files? */
bool carry_written(const struct carry *c, const struct entry *e);

#endif
