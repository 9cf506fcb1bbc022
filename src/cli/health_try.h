/*
 * health_try: one container, as a run would have it, and a look at it from inside. For health.c, in a process of its
 * own.
 */
#ifndef CORDON_CLI_HEALTH_TRY_H
#define CORDON_CLI_HEALTH_TRY_H

#include "cli/health.h"
#include "sandbox/common/box.h"

/* h->failed goes up with each step that is done, so that whoever ends this process sees how far it came. boxes: the
 * folder of all boxes. */
void health_try(const struct box_backend *backend, const struct cli_folders *folders, const char *boxes,
		struct health *h);

#endif
