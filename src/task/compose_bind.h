/*
 * compose_bind: parts of a task's folder, as its services get to see them: without what the agent must not see.
 *
 * compose_bind() in compose_write.h says what becomes of a bind; here is what is hidden, and how a copy is made.
 */
#ifndef CORDON_TASK_COMPOSE_BIND_H
#define CORDON_TASK_COMPOSE_BIND_H

#include "base/arena.h"
#include "base/error.h"
#include "model/compose.h"
#include "model/task.h"

/*
 * Tests and solutions, the task's and those of its steps, as far as they are in the folder that its Compose file's
 * paths are relative to (task_files.context): relative to it, NULL-terminated, in the arena. A whole folder that is
 * hidden is ".". NULL: no memory.
 */
const char *const *compose_hidden(const struct task *t, struct arena *a);

/*
 * What the mount names in the folder, a file or a folder without what is hidden, becomes `name` in `to`, which only we
 * may enter. Where there is nothing, it is an empty folder. No link is followed.
 */
int compose_bind_copy(int folder, const struct compose_mount *m, const char *const *hidden, int to, const char *name,
		      struct error *err);

#endif
