/*
 * compose_docker: services by `docker compose` (version 2) or `docker-compose` (1.29), which get Cordon's own file and
 * nothing else.
 *
 * The child's environment is exactly PATH, HOME and DOCKER_HOST: the operator's PATH without its relative parts; the
 * project's private folder, so that no configuration of the operator's (with proxies and passwords for registries,
 * which these tools hand on) is read; and the socket that the operator's own DOCKER_* variables and contexts lead to
 * (sandbox/docker/where.h). Nothing of the task, no COMPOSE_*. It runs in that private folder, which holds only the
 * file, so that no .env is read; its standard input is /dev/null unless it is given one; its arguments hold nothing of
 * the task's but names of services and the command to execute. The project's name is ours. Nothing is built and nothing
 * is pulled: images are there beforehand.
 *
 * Each call has a time limit, after which the tool and what it started is killed. compose_docker_down() does not rely
 * on the tool: what still has the project's label is removed by the engine's API, and looked for again.
 *
 * What the tool prints is kept up to COMPOSE_OUTPUT_MAX bytes from its end, for messages; it is untrusted, and escaped
 * there.
 */
#ifndef CORDON_TASK_COMPOSE_DOCKER_H
#define CORDON_TASK_COMPOSE_DOCKER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

enum { COMPOSE_OUTPUT_MAX = 64 << 10 };

struct compose_docker;

/* The exact list, NULL-terminated, in the arena. path: the operator's PATH, NULL: not set. Pure. NULL: no memory. */
char **compose_docker_environment(struct arena *a, const char *path, const char *home, const char *socket);

/*
 * folder: an absolute path of an empty folder that only we can enter; it lasts as long as the project, and is the
 * caller's to remove. project: [a-z0-9][a-z0-9_-]*, at most 60. file: what compose_write() made. operator_env: the
 * operator's environment. The tool is found on the operator's PATH: `docker` with a working `compose`, else
 * `docker-compose`. ERROR_MISSING where there is none, or no engine that answers.
 */
int compose_docker_new(const char *folder, const char *project, struct sv file, char *const *operator_env,
		       struct compose_docker **ret, struct error *err);
void compose_docker_free(struct compose_docker *d); /* takes nothing down; NULL is fine */

/* One that an earlier call made in that folder, at the engine that it was made at. It can be taken down, with the tool
 * or, where that is gone, without. */
int compose_docker_again(const char *folder, const char *project, const char *socket, char *const *operator_env,
			 struct compose_docker **ret, struct error *err);

/* The engine's socket: for whoever wants to come again. */
const char *compose_docker_socket(const struct compose_docker *d);

/* Before the first start: ERROR_INPUT where the engine has something of that project, which the tool would take for
 * this one's. */
int compose_docker_unused(const struct compose_docker *d, struct error *err);

/* 1: the engine has it, 0: it has not. */
int compose_docker_has_image(const struct compose_docker *d, const char *image, struct error *err);

/* Starts all services in their order and waits until those with a health check are healthy. */
int compose_docker_up(struct compose_docker *d, unsigned ms, struct error *err);

/*
 * Runs a command in a service. in and out are borrowed; -1: /dev/null. Secrets do not belong into argv: the host can
 * read it. *ret_status is the command's exit status; 124 when its time was up: it then goes on until
 * compose_docker_down().
 */
int compose_docker_exec(struct compose_docker *d, const char *service, const char *const *argv, int in, int out,
			unsigned ms, int *ret_status, struct error *err);

/* The name of a service's container: letters, digits and "_.-". */
int compose_docker_container(const struct compose_docker *d, const char *service, char *ret, size_t size,
			     struct error *err);

/* Removes the images that were built as "PROJECT:...". After down: no container may have them. */
int compose_docker_forget_images(struct compose_docker *d, struct error *err);

/* Everything of the project is gone after it, or the error says what is left. Also after a failed up. */
int compose_docker_down(struct compose_docker *d, unsigned ms, struct error *err);

#endif
