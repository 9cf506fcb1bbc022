/*
 * backends: which code stands behind a runtime's name.
 */
#ifndef CORDON_CLI_BACKENDS_H
#define CORDON_CLI_BACKENDS_H

#include "model/policy.h"
#include "sandbox/common/box.h"

/* NULL: the native backend, which is none of these. */
const struct box_backend *backend_of(enum runtime r);

/* All of them, NULL-terminated. */
extern const struct box_backend *const backends_all[];

/* What makes its containers: a program, or an engine's socket; free() it. Fails where there is none. */
int backend_place(enum runtime r, char **ret, struct error *err);

#endif
