/*
 * reload: notices that a policy file was changed while a run goes on: written, or another renamed over it.
 *
 * It is the folder that is watched, not the file: a file that is replaced is another file. Of every link on the way,
 * and of those that they lead through, the folder is watched too: where one is replaced, as "current" links and mounted
 * configuration are, what the path names is another file as well. Where nothing can be watched (no inotify left),
 * nothing is noticed, and SIGHUP and `cordon policy push` still work.
 */
#ifndef CORDON_SUPERVISE_RELOAD_H
#define CORDON_SUPERVISE_RELOAD_H

#include <stdbool.h>
#include <stddef.h>

enum { RELOAD_FILES = 64, RELOAD_LINKS = 8 };

struct reload {
	int fd; /* -1: nothing is watched */
	struct {
		int folder; /* inotify's number */
		char *name; /* in it */
		bool link;
	} files[RELOAD_FILES];
	size_t n;
	const char *const *paths; /* borrowed */
	size_t n_paths;
};

/* The paths must stay until reload_done(). */
void reload_init(struct reload *r, const char *const *paths, size_t n);
void reload_done(struct reload *r);

/* Something happened on fd: was it one of the files? */
bool reload_changed(struct reload *r);

#endif
