/*
 * carry_scratch: places where everybody keeps files of the moment, the tests too: /tmp and /var/tmp, and where links of
 * the image lead from them. (/run and /dev/shm are the runner's and the kernel's.)
 *
 * What an agent leaves there under a name that the tests then write to is theirs to follow, to run or to read. So of
 * what is new in these places only that is carried which the instruction names, or a folder above it; the tests' own
 * naming it is no reason. Where it names the place alone ("a file report.txt in /tmp"), that is what it has a name for,
 * and what the tests have none for. A part of a path that stands for many (*, {x}, <x>, $X) stands for any. A name
 * with spaces has marks around it (quotation, code, emphasis). What the image has there may be changed and deleted, as
 * elsewhere.
 */
#ifndef CORDON_TASK_CARRY_SCRATCH_H
#define CORDON_TASK_CARRY_SCRATCH_H

#include "task/carry_judge.h"

/* Behind carry_told_init(), with c->scratch set. 0 or -ENOMEM. */
int carry_scratch_init(struct carry *c);

/* Is c->at left out, for it is in such a place, is one and no folder, or leads there? */
bool carry_scratch_leaves(const struct carry *c, const struct entry *e);

/* Is the folder such a place? Is the path at or below one, and not named? */
bool carry_scratch_place(const struct carry *c, const char *path);
bool carry_scratch_unnamed(const struct carry *c, const char *path);

#endif
