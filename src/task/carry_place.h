/*
 * carry_place: what test runners of Python run because of where it is, though nobody imports it by name.
 *
 * To import /a/b/test_x.py, pytest goes up as long as there is an __init__.py, and imports each of these folders as a
 * package; unittest's discovery does so from its top folder downwards. The same name is a package's everywhere else,
 * which the tests import and are meant to: there it is carried. So one with code in it is not where tests are:
 *   - in the work folder and those above it
 *   - in folders that are called tests, and below them
 *   - in folders that hold test files of the image, or that the tests copy themselves to, and new ones above these; but
 * where the tests name the package, or the image's own has code in it, it is part of the work A blank one runs nothing,
 * and is carried, as is its deletion.
 *
 * A package or library called as one of the tests' own files is imported in its place.
 */
#ifndef CORDON_TASK_CARRY_PLACE_H
#define CORDON_TASK_CARRY_PLACE_H

#include "task/carry_judge.h"

/* Is c->at such an __init__.py? */
bool carry_place_runs(const struct carry *c, const struct spot *s, const struct entry *e);

/* Would a link at c->at lead tests elsewhere that are copied there? */
bool carry_place_link(const struct carry *c, const struct entry *e);

#endif
