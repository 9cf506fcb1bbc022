/*
 * modes: the modes that files had where they come from, for a copy that has given them others.
 *
 * A stage (task/stage.h) makes all modes plain, so that whoever reads it can; COPY and ADD of a build give the files
 * the modes that they had, as Docker's builder does. The stage stands still as long as this is asked: a file is known
 * by its number.
 */
#ifndef CORDON_IMAGE_MODES_H
#define CORDON_IMAGE_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Zero it. */
struct modes {
	struct mode_was {
		dev_t dev;
		ino_t ino;
		mode_t mode;
	} *v;
	size_t n, cap;
	bool sorted;
};

void modes_done(struct modes *m);

/* The copy had this mode (07777 of it). 0 or -ENOMEM. */
int modes_add(struct modes *m, const struct stat *copy, mode_t was);

/* Nothing is added from now on. */
void modes_sort(struct modes *m);

/* The mode that the copy has to have, with its type: the one that it had, or the one that it has. m: sorted; NULL:
 * there are none. */
mode_t modes_of(const struct modes *m, const struct stat *copy);

#endif
