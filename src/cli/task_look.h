/*
 * task_look: a task's folder, copied and reviewed, and what a person is told of it.
 */
#ifndef CORDON_CLI_TASK_LOOK_H
#define CORDON_CLI_TASK_LOOK_H

#include "base/buf.h"
#include "base/error.h"
#include "image/modes.h"
#include "model/task.h"
#include "task/scratch.h"

extern const char *const task_format_names[]; /* by enum task_format: "harbor", ... */

/* A place for a copy that is only looked at. */
int task_look_scratch(struct scratch *ret, struct error *err);

/*
 * Copies the folder to the empty folder `to`, with modes as the stage has them (task/stage.h), and reviews the copy
 * (task/review.h), with the operator's credentials; by_docker: for Docker's tools. problems->arena must be set. 0:
 * accepted, *ret is the caller's. -1: where problems->refused and err is ERROR_INPUT, the task is refused; else
 * something failed.
 */
int task_look(const char *path, int to, struct modes *modes, bool lenient, bool by_docker, struct task **ret,
	      struct task_problems *problems, struct error *err);

/* One problem, as a line. */
void task_look_problem(struct buf *out, const struct task_problem *p);

/* All of them, and whether the task is accepted: t is NULL where it is not. */
void task_look_print(struct buf *out, const char *path, const struct task *t, const struct task_problems *problems);

#endif
