/*
 * carry_project: a pyproject.toml of the agent's beside the image's. A pure function of their bytes.
 *
 * It is the agent's work, but for what test tools read in it: pytest's section, what makes coverage, mypy, pylint and
 * their like run something (plugins, hooks), and where installers get packages from. An index, a source or a build
 * backend in the project is another place than the tests mean when they install something; so is a dependency with an
 * address or a path of its own, where it is a test tool or what the tests install themselves.
 */
#ifndef CORDON_TASK_CARRY_PROJECT_H
#define CORDON_TASK_CARRY_PROJECT_H

#include <stdbool.h>

#include "base/sv.h"
#include "task/carry_tests.h"

/* Do both say the same about these? What is no TOML does not. tests may be NULL: nothing is known of them. */
bool carry_same_project(struct sv ours, struct sv image, const struct carry_tests *tests);

#endif
