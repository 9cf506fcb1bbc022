/*
 * review_compose: a task's Compose file, looked at before anything is run: compose.h with stand-ins for what the runner would put in, and compose_paths.h.
 */
#ifndef CORDON_TASK_REVIEW_COMPOSE_H
#define CORDON_TASK_REVIEW_COMPOSE_H

#include "base/error.h"
#include "model/task.h"

/* Problems are added. -1: it could not be looked at. Nothing happens where the task has no such file. */
int review_compose(int folder, const struct task *t, bool lenient, struct arena *a, struct task_problems *problems, struct error *err);

/*
 * The Compose file of a separate verifier (files.test_compose of the task or of a step). Cordon starts no services for a verifier, so it may only say what holds anyway: a service `main` with files of `tests` below /tests.
 */
int review_verifier_compose(int folder, const struct task_files *files, bool lenient, struct arena *a, struct task_problems *problems, struct error *err);

#endif
