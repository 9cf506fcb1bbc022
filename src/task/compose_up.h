/*
 * compose_up: a task's services at the operator's own Docker Engine, for a person who wants to look at them. `cordon
 * task up` and `cordon task down`.
 *
 * What starts is the file of compose_file.h. Images are built by the engine of a Dockerfile written anew and of the
 * files that it copies (build.h), or are those that it has; nothing is pulled. RUN instructions have no network unless
 * the operator says so: the engine's reaches whatever this machine reaches.
 *
 * The project's folder is there from the first step on, so that whatever a step that failed or a killed process left is
 * found by its name. compose_up() that fails leaves nothing, or says what. A lock on the folder keeps two calls for one
 * project apart.
 */
#ifndef CORDON_TASK_COMPOSE_UP_H
#define CORDON_TASK_COMPOSE_UP_H

#include "base/arena.h"
#include "task/attend.h"
#include "task/compose_file.h"

enum { COMPOSE_CONTAINER_MAX = 256 };

/* The folder of a new project, which is made, with an empty stage/ in it, and held. */
struct compose_held {
	int folder, stage; /* -1: none */
};

#define COMPOSE_HELD_NONE                                                                                              \
	{                                                                                                              \
		.folder = -1, .stage = -1                                                                              \
	}

/* ERROR_INPUT where there is one of that name. */
int compose_hold(const struct compose_project *p, struct compose_held *ret, struct error *err);
void compose_release(struct compose_held *h);

struct compose_up {
	const struct compose_project *project;
	const struct compose_held *held;
	const struct compose_file *file;
	const struct modes *modes; /* that the files of the stage had */
	bool build_network;	  /* RUN may have the engine's */
	uint64_t storage;	  /* what the files of one build may take; 0: no bound */
	uint64_t build_ms;	  /* the time to put them together; 0: no bound */
	char *const *environment; /* the operator's */
	const struct task_progress *progress;
};

/* Starts it all. container: of the agent's own service. */
int compose_up(const struct compose_up *up, struct arena *a, char container[COMPOSE_CONTAINER_MAX], struct error *err);

/*
 * Ends a project and removes all of it: at the engine, where it was started, and the folder. Whether the tool is there
 * does not matter. -1: what is left is in err, and the folder stays as long as the engine may have something of it.
 * ERROR_INPUT where there is none of that name.
 */
int compose_down(const struct compose_project *p, char *const *environment, struct error *err);

/* Of compose_up() that failed, or was never called: the folder is held. */
int compose_abandon(const struct compose_project *p, const struct compose_held *h, char *const *environment,
		    struct error *err);

#endif
