/*
 * say: what a person who watches sees of the work: lines on standard output, of which none can fake another or move a
 * cursor.
 */
#ifndef CORDON_AGENT_SAY_H
#define CORDON_AGENT_SAY_H

#include "base/sv.h"

/* Each line of the text, escaped, behind the mark; at most 40 of them. */
void say_lines(const char *mark, struct sv text);
/* One line of our own words. */
void say_note(const char *words);

#endif
