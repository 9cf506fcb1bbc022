/*
 * copied: which folders of the host a copy was made of, so that what stands there later under the same names is told from them.
 *
 * When a folder is moved, what is in it keeps all its times: nothing but the folder's own identity says that it was not there, or that another one was, when the copy was made.
 */
#ifndef CORDON_SUPERVISE_COPIED_H
#define CORDON_SUPERVISE_COPIED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct copied_folder {
	char *path; /* below the top */
	dev_t dev;
	ino_t ino;
};

/* Zero it. */
struct copied {
	struct copied_folder *v;
	size_t n, cap;
	bool sorted;
};

/* 0 or -ENOMEM. */
int copied_add(struct copied *c, const char *path, const struct stat *st);
bool copied_has(struct copied *c, const char *path, dev_t dev, ino_t ino);
void copied_done(struct copied *c);

#endif
