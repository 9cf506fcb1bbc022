/*
 * services_parts: from a compose file to the sandboxes of its services. For services.c.
 */
#ifndef CORDON_TASK_SERVICES_PARTS_H
#define CORDON_TASK_SERVICES_PARTS_H

#include "task/services.h"

/* The image of a service, and its sandbox: root and argv of ret. */
int services_root(struct flow *f, struct service *s, struct task_sandbox *ret);

/* The folder of a volume of the agent's own service. NULL: errno says why. */
const char *services_volume(struct flow *f, const struct compose_mount *m);

#endif
