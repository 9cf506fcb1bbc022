/*
 * carry_link: where links lead, in a view of the file system: the image's, the agent's, or the verifier's.
 *
 * A link is judged twice. First as the agent has it: so is told what it was made for. Then, when all else is carried,
 * as the verifier will have it: what was not carried, and what came back for it, may have changed where it leads. One
 * that then leads to nothing would be filled by who writes there later: a test that makes its expected answer. And
 * where tests write through a link, they write to what they judge: so one that bears a name of the tests' own
 * (carry_told.h), leads to such a name, or stands where an answer is asked for that is no link, is a copy of its file,
 * or is not there if it leads to a folder. Links of programs and packages stay (venv/bin/python, node_modules/.bin), as
 * do those that the task asks for, and those that the image has.
 */
#ifndef CORDON_TASK_CARRY_LINK_H
#define CORDON_TASK_CARRY_LINK_H

#include "task/carry_judge.h"

/* Does a link with this text, at c->at, lead to a place of the runner's or the kernel's, by whatever detour, or to the
 * root that they are in? What cannot be told counts as yes, as does all behind the steps that any work's links would
 * take. The agent's view. same: the image has that link, which may lead to /dev/null. */
bool carry_link_to_runner(struct carry *c, struct sv target, bool same);

/* Has the image a link there with the same text? */
bool carry_link_same(const struct spot *s, const struct entry *e);

/* Where the path leads in the image. NULL: that cannot be told. The arena's. */
const char *carry_link_resolve(const struct carry *c, struct sv path);
/* The same for whoever has an image's layers and nothing else: absolute; "" is the root. */
bool carry_link_in(const struct layered *image, struct sv path, char ret[PATH_MAX]);

/* The link at c->at is carried. 0 or -ENOMEM. */
int carry_link_keep(struct carry *c, bool same);

/* All is carried: takes those away again that may not be as the verifier sees them, or makes copies of them. 0, or -1
 * and c->err is set. */
int carry_links_again(struct carry *c);

#endif
