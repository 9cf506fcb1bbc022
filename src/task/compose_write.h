/*
 * compose_write: a new Compose file, made of the model and a policy and of nothing else.
 *
 * The file is JSON, which every Compose reads. Every `$` in a value is doubled, so that it means itself. No byte of the task's own file gets here but by way of a field of the model.
 *
 * Whatever the task says, every service has all of this: no capability but a few that images need to begin with (compose_write.c lists them) less those the task drops; no-new-privileges; bounds for memory, processors and
 * processes; networks without a way out (`internal`), or none at all where there is one service; no label, no published port, no name but the project's.
 *
 * A bind of the task's folder that is writable, or above something that is to be hidden, is a copy: whoever runs the services makes it beforehand (compose_bind()), so that nothing writes to the stage. One at or below
 * something hidden is left out.
 */
#ifndef CORDON_TASK_COMPOSE_WRITE_H
#define CORDON_TASK_COMPOSE_WRITE_H

#include "base/buf.h"
#include "model/compose.h"
#include "model/image.h"

/* Where things are on the host: absolute, canonical folders of the runner's. */
struct compose_place {
	const char *task;   /* the staged folder that holds the task's own file */
	const char *copies; /* COPIES/SERVICE.MOUNT: copies of binds, by their positions */
	const char *folders[COMPOSE_FOLDERS];
	const char *const *hidden; /* NULL-terminated; relative to task: "tests", "solution.sh" */
};

/* What holds for every service. 0: no bound of its own; then the task's alone. */
struct compose_policy {
	uint64_t memory, cpus, pids; /* a task's own are cut down to these */
	const struct image_mount *mounts; /* the door */
	uint32_t n_mounts;
	const struct compose_pair *environment; /* above the task's: the gateway's variables */
	uint32_t n_environment;
	const char *const *images; /* by service: what it is built to or imported as; NULL: as the task says */
};

enum compose_bind { COMPOSE_BIND_SHOW, COMPOSE_BIND_COPY, COMPOSE_BIND_LEAVE };

/* What becomes of a mount of the task's folder. */
enum compose_bind compose_bind(const struct compose_mount *m, const char *const *hidden);

/* 0 or -errno. */
int compose_write(const struct compose *c, const struct compose_place *place, const struct compose_policy *policy, struct buf *out);

#endif
