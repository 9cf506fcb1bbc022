/*
 * review: all that can be said of a task before anything of it runs. `cordon task check` is this and no more; `cordon
 * task run` begins with it.
 *
 * The folder is the stage (stage.h). Looked at: the format (format.h), every `${NAME}` of the env tables (env.h), and
 * the Dockerfiles (image/recipe.h), of the environment unless docker_image takes its place, of every service, and of a
 * separate verifier, and the Compose file (compose.h) with what it names in the folder and what a run makes of it
 * (compose_fit.h); a separate verifier's may say next to nothing (review_compose.h). All problems are told.
 */
#ifndef CORDON_TASK_REVIEW_H
#define CORDON_TASK_REVIEW_H

#include "base/error.h"
#include "model/task.h"
#include "vault/credential.h"

struct review {
	bool lenient;			       /* unknown keys are warnings */
	bool by_docker; /* Docker's tools are to start its services: what a run makes of them is not asked */
	const struct credentials *credentials; /* of the operator: what verifiers may ask for; NULL: none */
};

/* problems->arena must be set. 0: accepted, *ret is the caller's (task_free()). -1: refused (ERROR_INPUT, and problems
 * says why) or failed (any other kind). */
int review_task(int folder, const struct review *with, struct task **ret, struct task_problems *problems,
		struct error *err);

/* The credential that is granted to verifiers as NAME, or NULL; for struct task_env_scope, with the credentials (or
 * NULL) as arg. */
const char *review_grant(void *credentials, const char *name);

#endif
