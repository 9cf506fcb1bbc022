/*
 * carry_told: which names the task's instruction speaks of, and which its tests do.
 *
 * A name that only the tests speak of is theirs: who leaves something under it means the tests, and not the task. What
 * the instruction names is the agent's to make. In prose any word may be a name, so those count that look like one:
 * with a dot or an underscore in it, or beside a slash or a quotation mark. They end at punctuation and spaces of any
 * script. Where one has other characters beyond ASCII, what is around it may be prose without spaces: then both count,
 * the whole and what of it is ASCII. Names are compared as words: without case, '-' and '.' as '_', and of more than
 * CARRY_WORD_MAX bytes only these.
 */
#ifndef CORDON_TASK_CARRY_TOLD_H
#define CORDON_TASK_CARRY_TOLD_H

#include "task/carry_judge.h"

/* Reads both. 0 or -ENOMEM. */
int carry_told_init(struct carry *c);

/* How many bytes at the beginning of the text are a character beyond ASCII that ends a name: punctuation, an arrow, a
 * space. 0: none is there. */
size_t carry_mark(struct sv text);

/* Does the instruction name it? */
bool carry_told(const struct carry *c, struct sv name);

/* Do the tests speak of it: in a text of theirs, or as the name of one of their files? */
bool carry_spoken(const struct carry *c, struct sv name);

/* The tests, and not the instruction. */
bool carry_tests_own(const struct carry *c, struct sv name);

/* Is it exactly the name of one of the tests' files? */
bool carry_tests_named(const struct carry *c, struct sv name);

#endif
