/*
 * services_parts: from a compose file to the sandboxes of its services. For services.c.
 */
#ifndef CORDON_TASK_SERVICES_PARTS_H
#define CORDON_TASK_SERVICES_PARTS_H

#include "task/compose_write.h"
#include "task/services.h"

/* The image of a service, and its sandbox: root and argv of ret. */
int services_root(struct flow *f, struct service *s, struct task_sandbox *ret);

/* The network that the task asks for its agent, which is everybody's. */
const struct task_network *services_network(const struct flow *f);

/* Somebody is to be in that network: from now on it is held, where others could join. */
int services_net_hold(struct flow *f, uint32_t net);
/* A service is about to join it. Is it the first? */
bool services_net_first(struct flow *f, uint32_t net);
/* The run to join; NULL: there is none, or not any more. */
const char *services_net(struct flow *f, uint32_t net);
/* Has it ended, or does it within a moment? */
bool services_net_ended(struct flow *f, uint32_t net);
/* Ends them all. end: when nothing is waited for any more (now_ms()). */
void services_net_stop(struct flow *f, int64_t end);

/* The folder of a volume of the agent's own service. NULL: errno says why. */
const char *services_volume(struct flow *f, const struct compose_mount *m);

/* What becomes of a mount of the task's folder. Nothing is written to it here, so that only what must not be seen makes
 * a difference; others are shown. */
enum compose_bind services_bind(const struct flow *f, const struct compose_mount *m);

/* The copy for COMPOSE_BIND_COPY, which all sandboxes of the service share. folder: of the stage, which the mount is
 * relative to. NULL: it could not be made. */
const char *services_copy(struct flow *f, const char *folder, const struct compose_service *c,
			  const struct compose_mount *m);

/* What services do not get is never passed over in silence: findings. */
void services_tell_binds(struct flow *f);

#endif
