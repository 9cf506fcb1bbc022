/*
 * review_compose: a task's Compose file, looked at before anything is run: compose.h, compose_paths.h and
 * compose_plan.h.
 */
#ifndef CORDON_TASK_REVIEW_COMPOSE_H
#define CORDON_TASK_REVIEW_COMPOSE_H

#include "base/error.h"
#include "model/compose.h"
#include "model/task.h"

/* What the runner's variables stand for. */
struct review_compose {
	const char *project, *image; /* of the project, and of the agent's own service */
	bool lenient;
};

/* Where the task has such a file: *ret is what it says, in the arena a, and stays as it was where the file itself is
 * refused. Problems are added. -1: it could not be looked at. */
int review_compose_read(int folder, const struct task *t, const struct review_compose *with, struct arena *a,
			struct task_problems *problems, const struct compose **ret, struct error *err);

/* The same with stand-ins. Nothing happens where the task has no such file. */
int review_compose(int folder, const struct task *t, bool lenient, struct arena *a, struct task_problems *problems,
		   const struct compose **ret, struct error *err);

/* What those stand-ins call the image of the agent's own service. */
#define REVIEW_MAIN_IMAGE "task"

/*
 * The Compose file of a separate verifier (files.test_compose of the task or of a step). Cordon starts no services for
 * a verifier, so it may only say what holds anyway: a service `main` with files of `tests` below /tests.
 */
int review_verifier_compose(int folder, const struct task_files *files, bool lenient, struct arena *a,
			    struct task_problems *problems, struct error *err);

#endif
