/*
 * compose_write: a new Compose file, made of the model and a policy and of nothing else.
 *
 * The file is JSON, which every Compose reads. Every `$` in a value is doubled, so that it means itself. No byte of the
 * task's own file gets here but by way of a field of the model.
 *
 * Whatever the task says, every service has all of this: no capability but a few that images need to begin with
 * (compose_write.c lists them) less those the task drops; no-new-privileges; bounds for memory, processors and
 * processes; no label, no published port, no name but the project's; and no network. Where there are several services,
 * one more, cordon-net, of the agent's image, does nothing but hold an empty network namespace with their names, and
 * they are in it (compose_plan.h says why). `start_interval` is left out, which docker-compose 1.29 does not know: it
 * only says how soon health is seen.
 *
 * A bind of the task's folder that is writable, or above something that is to be hidden, is a copy: whoever runs the
 * services makes it beforehand (compose_bind()), so that nothing writes to the stage. One at or below something hidden
 * is left out.
 */
#ifndef CORDON_TASK_COMPOSE_WRITE_H
#define CORDON_TASK_COMPOSE_WRITE_H

#include "base/buf.h"
#include "model/compose.h"
#include "model/image.h"
#include "task/compose_plan.h"

/* Where things are on the host: absolute, canonical folders of the runner's. */
struct compose_place {
	const char *task;   /* the staged folder that holds the task's own file */
	const char *copies; /* COPIES/SERVICE.MOUNT: copies of binds, by their positions */
	const char *folders[COMPOSE_FOLDERS];
	const char *const *hidden; /* NULL-terminated; relative to task: "tests", "solution.sh" */
};

/* What holds for every service. 0: no bound of its own; then the task's alone. */
struct compose_policy {
	const struct compose_plan *plan; /* of the same services */
	uint64_t memory, cpus, pids; /* a task's own are cut down to these */
	const struct image_mount *mounts; /* the door */
	uint32_t n_mounts;
	const struct compose_pair *environment; /* above the task's: the gateway's variables */
	uint32_t n_environment;
	const char *const *images; /* by service: what it is built to or imported as; NULL: as the task says, which will
				      do for those without `build`. Nothing is built or pulled by who reads the file */
};

enum compose_bind { COMPOSE_BIND_SHOW, COMPOSE_BIND_COPY, COMPOSE_BIND_LEAVE };

/* What becomes of a mount of the task's folder. */
enum compose_bind compose_bind(const struct compose_mount *m, const char *const *hidden);

/* Without a policy (NULL) the file says what the model says and no more: reading it gives an equal model, if place has
 * the stand-ins. 0 or -errno. */
int compose_write(const struct compose *c, const struct compose_place *place, const struct compose_policy *policy,
		  struct buf *out);

#endif
