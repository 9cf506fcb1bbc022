/*
 * path: where one path lies in respect to another, by their text alone. Both are absolute and canonical, or relative to
 * the same folder; a folder may end in a slash, as "/" does.
 */
#ifndef CORDON_BASE_PATH_H
#define CORDON_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What follows the folder in the path: "" or "/" for the folder itself, else "/name...". NULL: it does not lie there.
 */
static inline const char *path_rest(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	n -= n && folder[n - 1] == '/';
	return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* It is the folder, or lies below. */
static inline bool path_is_in(const char *path, const char *folder)
{
	return path_rest(path, folder) != NULL;
}

static inline bool path_is_below(const char *path, const char *folder)
{
	const char *rest = path_rest(path, folder);

	return rest && rest[0] && rest[1];
}

#endif
