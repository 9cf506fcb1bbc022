/*
 * format_terminal: what Terminal-Bench 1 has besides its table (format_read.h): defaults, and where the instruction is.
 */
#ifndef CORDON_TASK_FORMAT_TERMINAL_H
#define CORDON_TASK_FORMAT_TERMINAL_H

#include "conf/reader.h"
#include "model/task.h"

int format_terminal_finish(struct reader *r, const struct ynode *root, struct task *t);

#endif
