/*
 * carry_asked: what packages of the image import where there is one, and do without otherwise.
 *
 * `try: import simplejson` in a package of the image is a door: whatever an agent installs under that name runs in the
 * process of whoever uses the package, a test or an installer. So such a name is not carried, unless the task itself
 * speaks of it: its tests or its solution import or install it, or the project in the image lists it. What the agent's
 * own code imports is not asked for by the image, and is carried.
 *
 * Of Python's packages these count: imports that are run as a module is, and those of functions that are tried; not
 * what is for type checkers only, nor what packages have for their own tests. Of node's: require() in a `try`, and
 * import(). Test tools and installers have a list instead (carry_rules.h): they name half of what there is. Images are
 * read up to a bound; behind it every new name is asked for.
 */
#ifndef CORDON_TASK_CARRY_ASKED_H
#define CORDON_TASK_CARRY_ASKED_H

#include "task/carry_judge.h"

/* Is the module, package or library c->at asked for? base: what it is imported as. */
bool carry_asked_module(struct carry *c, const struct spot *s, const struct entry *e, struct sv base);

/* The same of a module beside the work, where the tests start: any word of the task's counts for it, as it does for
 * projects; and where the image is larger than can be read, it is not asked for. */
bool carry_asked_beside(struct carry *c, const struct spot *s, const struct entry *e, struct sv base);

/* Is the package c->at of a node_modules folder asked for by others in it? */
bool carry_asked_node(struct carry *c);

/* Names in a text: "a", and "a.b" of "import a.b.c"; "a", "@a/b" of node. Pure functions of it. */
typedef void asked_fn(void *arg, struct sv name);
void carry_asks_python(struct sv text, asked_fn *fn, void *arg);
void carry_asks_node(struct sv text, asked_fn *fn, void *arg);

#endif
