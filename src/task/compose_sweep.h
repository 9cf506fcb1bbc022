/*
 * compose_sweep: what the engine has of a project, asked of itself.
 *
 * Both versions of Compose mark all that they make with the project's name. The name was checked (compose_docker.h), so
 * it needs no encoding. Inside of compose_docker.h only.
 */
#ifndef CORDON_TASK_COMPOSE_SWEEP_H
#define CORDON_TASK_COMPOSE_SWEEP_H

#include <stdbool.h>

#include "sandbox/docker/engine.h"

struct compose_health_count {
	unsigned starting, unhealthy, containers;
	char name[64]; /* of a service that is not healthy, or else of one that is starting; escaped */
};

/* How the project's containers are. */
int compose_sweep_health(const struct engine *e, const char *project, struct compose_health_count *ret,
			 struct error *err);

/* The name of a service's container, in plain characters. ERROR_MISSING where there is none. */
int compose_sweep_container(const struct engine *e, const char *project, const char *service, char *ret, size_t size,
			    struct error *err);

/* How much of the project there is: containers, networks and volumes. -1: err is set. */
int compose_sweep_count(const struct engine *e, const char *project, struct error *err);

/* Removes all images "REPOSITORY:...": the names, and what has no other. What is left is an error. */
int compose_sweep_images(const struct engine *e, const char *repository, int timeout_ms, struct error *err);

/* Removes containers, networks and volumes of the project, and looks again: what is left is an error. */
int compose_sweep(const struct engine *e, const char *project, int timeout_ms, struct error *err);

#endif
