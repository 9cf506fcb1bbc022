/*
 * carry_copy: files of the layer that is made, with the facts that they had.
 */
#ifndef CORDON_TASK_CARRY_COPY_H
#define CORDON_TASK_CARRY_COPY_H

#include "task/carry_judge.h"

/* Fails with what carrying c->at came to. -1. */
int carry_fail(struct carry *c, int code);

/* Owner, mode without setuid and setgid, times. An ordinary user's copies are that user's. 0 or -1. */
int carry_facts(struct carry *c, int fd, const struct stat *st);

/* The content of the file `in` to the empty file `out`, and its facts. 0 or -1. */
int carry_bytes(struct carry *c, int in, int out, const struct stat *st);

#endif
