/*
 * carry_child: the same work as the image's id 0, in a child that has that mapping and no other descriptor than those
 * of the folders.
 *
 * So that what belongs to any of the image's ids can be read and made, as an ordinary user, too; and so that who walks
 * through what an agent left has no power over anything else. It tells us what was dropped and how it ended, by rule
 * and path; both are looked at again.
 */
#ifndef CORDON_TASK_CARRY_CHILD_H
#define CORDON_TASK_CARRY_CHILD_H

#include "task/carry_judge.h"

/* work(c, to) in the child, with c->report sending to us. -1: its error, or what ended it. */
int carry_in_child(struct carry *c, int to, int (*work)(struct carry *c, int to));

#endif
