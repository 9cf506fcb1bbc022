/*
 * volumes: what becomes of a task's volumes when the agent has ended. Parts of a flow (flow.h).
 *
 * Nothing that an agent could write to reaches the verifier but through the filter of carry.h. So volumes that the
 * agent had become part of its changes, as they were when it ended (volume_copy.h), and the verifier does not have them
 * mounted. A volume that only services can write to, in a place that no program is loaded from, is theirs alone: the
 * verifier sees it as it is, read-only, and what running services write meanwhile.
 */
#ifndef CORDON_TASK_VOLUMES_H
#define CORDON_TASK_VOLUMES_H

#include "task/flow.h"

struct compose_mount;
struct layered;

/* The agent has ended. image, env: the verifier's. */
int volumes_settle(struct flow *f, const struct image *image, const char *const *env);

/* Where the verifier has them mounted; or, if not live, files of the task. NULL-terminated; NULL: no memory. */
const char *const *volumes_targets(struct flow *f, bool live);
/* Is that one of either? */
bool volumes_target(const struct flow *f, const char *path);

/* The agent goes on, in a further step: it has them mounted again. */
int volumes_unsettle(struct flow *f);

/* May something be loaded unasked from a folder there, by these variables of a process that starts in cwd? image: whose
 * links lead from what they name to elsewhere. For tests. */
bool volumes_loaded(const struct layered *image, const char *const *env, const char *cwd, const char *path);

/* Is it one that the verifier has mounted? Of a volume of the agent's own service. */
bool volumes_live(const struct flow *f, const struct compose_mount *m);

#endif
