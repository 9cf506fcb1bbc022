/*
 * compose_file: the one Compose file that Docker's tools get for a task: `cordon task compose` prints it, `cordon task
 * up` starts it.
 *
 * Made of what the task's own file says (review_compose.h), or, where it has none, of the one service that a task has
 * anyway; of its [environment] for the agent's own service: variables, work folder, user, limits; and of the operator's
 * bounds. compose_write.h says what every service gets, whatever the task says: no network above all.
 *
 * A project has one private folder:
 *	tool/	what the tool sees: its home and the file (compose_docker.h)
 *	stage/	the task (stage.h)
 *	copies/	binds that are copies (compose_bind.h)
 *	logs/	the runner's folders, by their names
 *	engine	the socket of the engine it was started at
 * Images that are built are called PROJECT:SERVICE; that of the agent's own service PROJECT:cordon-main, which no
 * service can be called.
 */
#ifndef CORDON_TASK_COMPOSE_FILE_H
#define CORDON_TASK_COMPOSE_FILE_H

#include <limits.h>

#include "task/compose_plan.h"
#include "model/task.h"

enum { COMPOSE_NAME_MAX = 40 };

struct compose_project {
	char root[PATH_MAX], folder[PATH_MAX]; /* ROOT/NAME */
	char name[COMPOSE_NAME_MAX + 1];
	char project[COMPOSE_NAME_MAX + 20]; /* "cordon-UID-NAME": users of one engine are kept apart */
};

/* Letters and digits in lower case, and single dashes between them. */
bool compose_name_is_fine(const char *name);

/* A name like the folder's. */
void compose_name_of(const char *dir, char ret[COMPOSE_NAME_MAX + 1]);

/* state: the user's state folder, absolute. name: NULL: none, only the root. ERROR_USAGE where it is no such name. */
int compose_project(const char *state, const char *name, struct compose_project *ret, struct error *err);

struct compose_file_request {
	const struct compose_project *project; /* its folder need not be there */
	int stage;
	const struct task *task; /* reviewed */
	bool lenient;
	uint64_t memory, cpus, pids; /* the operator's bounds; 0: none */
};

struct compose_file {
	const struct compose *compose;
	const char *context;	   /* of the stage: where paths of the services are relative to */
	const char *const *hidden; /* compose_hidden() */
	const char **images;	   /* by service; built where its `build` is set */
	const char *const *folders; /* below logs/, NULL-terminated */
	struct buf text;	   /* the caller's: buf_init() before, buf_done() after */
};

/* All but the text is in the arena. ERROR_INPUT: it cannot be said in a Compose file. */
int compose_file(const struct compose_file_request *req, struct arena *a, struct compose_file *ret, struct error *err);

#endif
