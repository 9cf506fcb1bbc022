/*
 * compose_docker: services by `docker compose` (version 2) or `docker-compose` (1.29), which get Cordon's own file and nothing else.
 *
 * The child's environment is exactly PATH (fixed), HOME (the project's private folder) and those DOCKER_* variables of the operator's that say how to reach the engine; nothing of the task, no COMPOSE_*, no other variable. It
 * runs in that private folder, which holds only the file, so that no .env is read; its standard input is /dev/null; its arguments hold no value of the task's but names of services. The project's name is fixed by us.
 *
 * Each call has a time limit, after which the whole process group is killed. compose_docker_down() removes containers, networks and volumes of the project, whatever state they are in, and then asks the engine that nothing with
 * the project's label is left.
 *
 * Output of the tool is kept up to COMPOSE_OUTPUT_MAX bytes from its end, for messages; it is untrusted.
 */
#ifndef CORDON_TASK_COMPOSE_DOCKER_H
#define CORDON_TASK_COMPOSE_DOCKER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

enum { COMPOSE_OUTPUT_MAX = 64 << 10 };

struct compose_docker;

/*
 * environ is the operator's; only DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH and DOCKER_API_VERSION are taken. A NULL-terminated list in the arena; NULL: no memory.
 */
char **compose_docker_environment(struct arena *a, char *const *environ, const char *home);

/*
 * folder: an empty private folder of the project, which holds the file and lasts as long as the project. Finds the tool on our own PATH: `docker` with a working `compose`, else `docker-compose`. ERROR_MISSING
 * where there is none. project: [a-z0-9][a-z0-9_-]*, at most 60.
 */
int compose_docker_new(const char *folder, const char *project, struct sv file, char *const *environ, struct compose_docker **ret, struct error *err);
void compose_docker_free(struct compose_docker *d); /* takes nothing down; NULL is fine */

/* Starts all services in their order and waits until those with a health check are healthy. */
int compose_docker_up(struct compose_docker *d, unsigned ms, struct error *err);

/* Runs a command in a service. in and out are borrowed. Environment and secrets do not belong into argv: the host can read it. *ret_status is the command's exit status; 124 when its time was up. */
int compose_docker_exec(struct compose_docker *d, const char *service, const char *const *argv, int in, int out, unsigned ms, int *ret_status, struct error *err);

/* Everything of the project is gone after it, or the error says what is left. Also after a failed up. */
int compose_docker_down(struct compose_docker *d, unsigned ms, struct error *err);

#endif
