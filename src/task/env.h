/*
 * env: what a value in a task's env tables stands for.
 *
 * A value that is "${NAME}" or "${NAME:-default}" from its first character to its last is a template; every other value
 * is itself, dollar signs and all. A template never reads this machine's environment:
 *   - in a verifier's table NAME is what the operator granted: a credential whose entry says `verifier_env: NAME`. Its
 * value is not known here, only which it is;
 *   - in every other table NAME is a variable of the runner's, a key of the same table, or a key of the environment's
 * table. A key that leads to itself is an error. Without these the default is taken; without a default it is a refusal.
 */
#ifndef CORDON_TASK_ENV_H
#define CORDON_TASK_ENV_H

#include "base/error.h"
#include "model/task.h"

struct task_env_template {
	const char *name;
	const char *fallback; /* NULL: none */
};

/* 1: the value is a template, *ret (in the arena) is its parts; 0: it is itself; -1: it begins as a template and is
 * none (a name of other characters than letters, digits and _), or there is no memory. */
int task_env_template(struct arena *a, const char *value, struct task_env_template *ret);

struct task_env_scope {
	const struct pol_pairs *others;					     /* the environment's table; NULL: none */
	const struct pol_pairs *runner;					     /* the runner's variables; NULL: none */
	const char *(*credential)(void *arg, const char *name); /* of a verifier: the credential that is granted as
								   NAME, or NULL; NULL: no verifier's table */
	void *arg;
};

/* One variable: its value, or the credential that is its value. */
struct task_env_value {
	const char *name;
	const char *value;	/* NULL: the credential's */
	const char *credential; /* NULL: none */
};

/* One value of a table. ERROR_INPUT: "KEY: ${NAME} ...; what to do". Nothing of it is copied but what is made of
 * templates. */
int task_env_resolve(const struct pol_pairs *table, uint32_t i, const struct task_env_scope *scope, struct arena *a,
		     struct task_env_value *ret, struct error *err);

#endif
