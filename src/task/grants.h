/*
 * grants: values of the operator's credentials for one verifier (DESIGN 5.7: `verifier_env`). Runs in the supervisor of
 * the verifier's sandbox, and in no other process.
 *
 * A value is fetched as the vault fetches it (vault/source.h), becomes "NAME=VALUE" in the environment of the
 * verifier's first process, and is wiped here when the sandbox has ended. It never stands in an argument list, a file,
 * a log or a message.
 */
#ifndef CORDON_TASK_GRANTS_H
#define CORDON_TASK_GRANTS_H

#include "base/buf.h"
#include "base/error.h"
#include "task/launcher.h"
#include "vault/credential.h"

enum { GRANTS_MAX = 64 };

struct grants {
	struct buf values[GRANTS_MAX]; /* "NAME=VALUE" */
	size_t n;
	const char **env;
};

/* *env (NULL-terminated) is replaced by one that has the values, too; it is the grants'. Nothing happens where the
 * sandbox has no grants. grants_wipe() in any case. */
int grants_fetch(struct grants *g, const struct task_sandbox *s, const struct credentials *c, const char *const **env,
		 struct error *err);
void grants_wipe(struct grants *g);

#endif
