/*
 * carry_wish: does an instruction ask for symbolic links?
 *
 * Links under names that an instruction has are the agent's to make where it wants some (carry_link.h). Speaking of
 * them is no wish: who is told to use none, or to follow those that are there, was asked for none. So the words beside
 * each mention count, as far as a comma or the end of a sentence. It is a list of words, not a grammar: what it takes
 * for a wish opens links to folders under names that are told, and little more.
 */
#ifndef CORDON_TASK_CARRY_WISH_H
#define CORDON_TASK_CARRY_WISH_H

#include <stdbool.h>

#include "base/sv.h"

bool carry_wishes_links(struct sv instruction);

#endif
