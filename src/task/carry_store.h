/*
 * carry_store: folders where tools that build and install keep packages: ~/.cargo, ~/.m2, /go/pkg/mod, and wherever a
 * variable says they are.
 *
 * Tools take from there unasked, and do not look again at what they unpacked once: go.sum and Cargo.lock are for what
 * is downloaded. So what the image has stays, as in node_modules. New packages are carried where a tool has its
 * packages, but nothing is added to one of the image's, nor unpacked for it, and none is carried that would be taken in
 * its place (gems of another version), or in the place of the tool (another go). Links do not lead to packages: what is
 * behind them would be judged as what lies anywhere. What else lies beside them is what the tool reads when it starts,
 * or what it made itself and makes again: that is not carried.
 */
#ifndef CORDON_TASK_CARRY_STORE_H
#define CORDON_TASK_CARRY_STORE_H

#include "task/carry_judge.h"

/* Reads the variables that name such folders. */
void carry_stores_init(struct carry *c);

/* Sets what the folder c->at, in s, is of a store; child->zone is set. */
void carry_store_enter(const struct carry *c, const struct spot *s, const struct entry *e, struct spot *child);

/* s is of a store. */
enum carry_rule carry_store_judge(const struct carry *c, const struct spot *s, const struct entry *e);

/* Has the image a store at c->at or below it? Then no link takes its place. */
bool carry_store_way(const struct carry *c, const struct spot *s);

/* Does a tool look for a store at c->at or below it, be there one or not? Then no new link is there either: what it
 * leads to would be judged as what lies anywhere. */
bool carry_store_link(const struct carry *c, const struct spot *s);

/* The value of a variable of the verifier's, or NULL. */
const char *carry_variable(const struct carry *c, const char *name);

#endif
