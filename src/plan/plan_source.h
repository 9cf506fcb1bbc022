/*
 * plan_source: what a step of a plan shows of the host, opened.
 *
 * A plan's paths were judged as text, without a link in them. Whoever may change a folder above such a path (another
 * sandbox that has it read-write, another user of a shared folder) can put a link on the way, or another folder in the
 * place, at any time. So nothing is opened by following links, and a folder must be the very one that was searched for
 * denied names; what was opened is then used by its descriptor.
 */
#ifndef CORDON_PLAN_SOURCE_H
#define CORDON_PLAN_SOURCE_H

#include <stdbool.h>

#include "base/error.h"
#include "model/plan.h"

/* For the plan alone: the folder of a step, for reading, which becomes the one that was judged. An fd, or -errno. */
int plan_source_judge(struct plan_op *op);

/* flags: of open(2), O_CLOEXEC is added. An fd, or -errno; -ESTALE: another folder. */
int plan_source_open(const struct plan_op *op, int flags);

/* Says what open or judge failed with. code is EAGAIN in err where somebody changed the way meanwhile. -1. */
int plan_source_error(const struct plan_op *op, int code, struct error *err);

#endif
