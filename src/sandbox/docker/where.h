/*
 * where: on which socket the operator's Docker Engine listens, as the docker command would find it.
 *
 * DOCKER_HOST; else the context named by DOCKER_CONTEXT or by `currentContext` in the configuration (DOCKER_CONFIG, or
 * ~/.docker); else /var/run/docker.sock. Only a UNIX socket will do: a container of ours shows folders of this machine,
 * which an engine elsewhere does not have. Nothing of a task or policy gets here: the caller passes the operator's own
 * environment.
 */
#ifndef CORDON_DOCKER_WHERE_H
#define CORDON_DOCKER_WHERE_H

#include "base/error.h"

#define WHERE_DEFAULT "/var/run/docker.sock"

/* env: "NAME=value" strings, NULL-terminated. *ret is an absolute path; free() it. */
int where_is_docker(char *const *env, char **ret, struct error *err);

#endif
