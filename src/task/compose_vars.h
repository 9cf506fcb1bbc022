/*
 * compose_vars: ${X} in a Compose file. Pure.
 *
 * All forms of Compose: $X, ${X}, ${X:-d}, ${X-d}, ${X:?e}, ${X?e}, ${X:+a}, ${X+a}, nested in d, e and a, and $$ for a
 * dollar sign. What a variable stands for is never looked through for further ones. The part that is not taken is
 * looked at for its end only. A `$` before anything else is an error, as it is in Compose.
 *
 * A variable that does not exist is an error where the text has nothing to put in its place. There is no way from here
 * to the environment.
 */
#ifndef CORDON_TASK_COMPOSE_VARS_H
#define CORDON_TASK_COMPOSE_VARS_H

#include "base/arena.h"
#include "base/sv.h"
#include "task/compose.h"

enum { COMPOSE_VARS_NESTING = 16 };

/* The value, or NULL: there is no such variable. The runner's win over the task's. */
const char *compose_variable(const struct compose_input *in, struct arena *a, struct sv name);

/* NULL and the text with its variables filled in in *ret; or what is wrong, escaped. Both in the arena. */
const char *compose_expand(const struct compose_input *in, struct arena *a, struct sv text, const char **ret);

#endif
