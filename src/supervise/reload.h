/*
 * reload: notices that a policy file was changed while a run goes on: written, or another renamed over it.
 *
 * It is the folder that is watched, not the file: a file that is replaced is another file. Where the path is a link, that of the link and that of the file it leads to at the start. Where nothing can be watched (no inotify left), nothing is noticed, and SIGHUP and
 * `cordon policy push` still work.
 */
#ifndef CORDON_SUPERVISE_RELOAD_H
#define CORDON_SUPERVISE_RELOAD_H

#include <stdbool.h>
#include <stddef.h>

enum { RELOAD_FILES = 64 };

struct reload {
	int fd; /* -1: nothing is watched */
	struct {
		int folder; /* inotify's number */
		char *name; /* in it */
	} files[RELOAD_FILES];
	size_t n;
};

void reload_init(struct reload *r, const char *const *paths, size_t n);
void reload_done(struct reload *r);

/* Something happened on fd: was it one of the files? */
bool reload_changed(struct reload *r);

#endif
