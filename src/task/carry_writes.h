/*
 * carry_writes: paths that a task's tests write to, as far as their texts say so: redirections, copies, what is opened
 * for writing, folders that are made.
 *
 * What an agent leaves there would be written through (a link), run in the place of what should be there (a folder with
 * a __main__.py for check.py), or read in its place where the tests did not come so far. So it is not carried, unless
 * the instruction names it. It is a list of words, not a shell: of variables those are known that a script gives a
 * plain value. A folder may well be where something is copied to: it is in the way only where it is called as what
 * comes, or ends alike; but a whole folder of the tests' would be copied into it, and so what they copy that to is
 * theirs, as is a folder that they make for what lies in theirs. And a file that the tests speak of before they write
 * it, by its path or by the variable that they write it by, is one that they read, keep, or ask for: it is carried.
 */
#ifndef CORDON_TASK_CARRY_WRITES_H
#define CORDON_TASK_CARRY_WRITES_H

#include "task/carry_judge.h"

enum carry_write { WRITE_FILE, WRITE_COPY, WRITE_FOLDER };

/* A place that a text names so. All of it lives until fn returns. */
struct carry_place_written {
	enum carry_write is;
	bool shell;
	struct sv path;            /* as it stands there, variables with their values */
	struct sv from;            /* what is copied, for a WRITE_COPY */
	struct sv here;            /* where a script's last `cd` went, as it stands there; n 0: nowhere yet */
	struct sv before;          /* all of the text that comes before the command */
	struct sv variable, since; /* by which it is named, and what of the text lies between its value and the command;
				      n 0: by none */
};

/* Calls fn for each. shell: a script of a shell, whose relative paths count. */
typedef int write_fn(void *arg, const struct carry_place_written *at);
int carry_writes_in(struct sv text, bool shell, write_fn *fn, void *arg);

/* Behind carry_judge_init()'s work folder. 0 or -ENOMEM. */
int carry_writes_init(struct carry *c);

/* Is c->at in the place of what tests write? Or a folder that is called as one of their files? */
bool carry_written(const struct carry *c, const struct entry *e);

#endif
