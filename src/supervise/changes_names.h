/*
 * changes_names: the names in one or two folders, sorted, each once. For the changes modules only.
 *
 * Names are hostile: any byte but NUL and '/'. The list owns them; "." and ".." are left out.
 */
#ifndef CORDON_SUPERVISE_CHANGES_NAMES_H
#define CORDON_SUPERVISE_CHANGES_NAMES_H

#include <stddef.h>

struct names {
	char **v;
	size_t n;
};

/* Appends the names in the folder. fd stays the caller's. Each name takes one from *budget: -E2BIG when it is used up.
 * 0 or -errno. */
int names_read(struct names *names, int fd, size_t *budget);
/* Sorts by byte and drops doubles. */
void names_sort(struct names *names);
void names_done(struct names *names);

#define AUTO_NAMES __attribute__((cleanup(names_done))) struct names

/* Removes what is at name, with all below it; makes folders writable first where it must. 0 or -errno; 0 where nothing
 * is there. */
int names_remove_tree(int dirfd, const char *name);

#endif
