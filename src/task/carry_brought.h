/*
 * carry_brought: what the tests find by its name in their own folder, and would find elsewhere first.
 *
 * `PYTHONPATH=/tests python3 -m checks` in the work folder runs the agent's checks.py there, and the tests mean theirs.
 * So of what the image does not have, nothing is carried that an interpreter, a shell or a test runner would take in
 * the place of a file of the tests' folder: a module, a package (or what makes one of a folder), a library, a script or
 * a command, with or without the endings of its language, in
 *   - the folders where the tests start something, those of the variables PYTHONPATH, NODE_PATH, PERL5LIB ... of image
 *     and tests, those that they give to sys.path and its like, and packages' folders of Python
 *   - node_modules
 *   - folders of the PATH, and those that the tests add to it
 * Names are compared below such a folder as they are below the tests' folder, and below those in it that the tests name
 * where they look for something. Python counts where the tests' texts or the image's variables say where it is to look
 * (else their own folder comes first), a shell where there is a PATH of theirs, node where NODE_PATH or the settings of
 * a runner are spoken of.
 *
 * What the instruction names, or the task's own solution, is carried all the same: the work may well be called as a
 * copy of it among the tests. But where the tests ask for that name by itself (import, -m, a command), theirs has to be
 * the one that is found: then it is not there either. Data is carried, and what the image has may be changed.
 */
#ifndef CORDON_TASK_CARRY_BROUGHT_H
#define CORDON_TASK_CARRY_BROUGHT_H

#include "task/carry_judge.h"

/* Behind carry_told_init(). 0 or -ENOMEM. */
int carry_brought_init(struct carry *c);

/* Is c->at such a name? */
bool carry_brought(const struct carry *c, const struct spot *s, const struct entry *e);

/* Is the path, as the tests have it, their own folder, or one in it? */
bool carry_brought_folder(const struct carry *c, struct sv path);

#endif
