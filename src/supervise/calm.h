/*
 * calm: a terminal that a workload wrote on is put into a known state, so that what Cordon says there next can be read,
 * and stands where it says it.
 *
 * What a workload can leave behind: a string that has no end and would swallow what follows, concealed text, colours
 * that are all one, another set of characters, a part of the screen to write in, the cursor hidden, output that is held
 * back. All of it is undone; the place of the cursor and what is on the screen stay, and so does the alternate screen.
 * Colours of the palette are put back only where they were, or may have been, changed: a person may have set their own.
 *
 * A descriptor that is no terminal, and one that knows no escapes (TERM is unset or "dumb"), get nothing.
 */
#ifndef CORDON_SUPERVISE_CALM_H
#define CORDON_SUPERVISE_CALM_H

#include <stdbool.h>
#include <stddef.h>

/* What a workload wrote, as far as it counts. All zero: nothing. */
struct calm {
	bool changed;  /* it may have changed the terminal's state */
	bool coloured; /* ... its palette too */
	unsigned char at, before;
};

void calm_watch(struct calm *c, const char *p, size_t n);

/* Undoes what was written; nothing where that changed nothing. Waits ms for a terminal that takes nothing. */
void calm_terminal(const struct calm *c, int fd, int ms);

/* Whatever was written, by whomever, and a new line of our own with nothing below it. */
void calm_line(int fd, int ms);

#endif
