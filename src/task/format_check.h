/*
 * format_check: what a confined parser said of a task, looked at once more by us.
 *
 * The parser has checked every value, but whoever took it over could answer with anything that decodes. So names,
 * users, hosts, paths and texts must be what their types allow, with the same functions: then it could have come from
 * some task.toml as well.
 */
#ifndef CORDON_TASK_FORMAT_CHECK_H
#define CORDON_TASK_FORMAT_CHECK_H

#include "base/error.h"
#include "model/task.h"

int format_check(const struct task *t, struct error *err);

#endif
