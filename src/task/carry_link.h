/*
 * carry_link: where links lead, in a view of the file system: the image's, the agent's, or the verifier's.
 *
 * A link is judged twice. First as the agent has it: so is told what it was made for. Then, when all else is carried, as the verifier will have it: what was not carried, and what came back for it, may have changed where it leads.
 */
#ifndef CORDON_TASK_CARRY_LINK_H
#define CORDON_TASK_CARRY_LINK_H

#include "task/carry_judge.h"

/* Does a link with this text, at c->at, lead to a place of the runner's or the kernel's, by whatever detour, or to the root that they are in? What cannot be told counts as yes, as does all behind the steps that any work's links would take. The agent's view. */
bool carry_link_to_runner(struct carry *c, struct sv target);

/* Where the path leads in the image. NULL: that cannot be told. The arena's. */
const char *carry_link_resolve(const struct carry *c, struct sv path);
/* The same for whoever has an image's layers and nothing else: absolute; "" is the root. */
bool carry_link_in(const struct layered *image, struct sv path, char ret[PATH_MAX]);

/* The link at c->at is carried. 0 or -ENOMEM. */
int carry_link_keep(struct carry *c);

/* All is carried: takes those away again that lead to such a place as the verifier sees them. 0 or -errno. */
int carry_links_again(struct carry *c);

#endif
