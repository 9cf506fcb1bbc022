/*
 * real_path: realpath() that has one name for each place.
 *
 * POSIX leaves to a system what a path means that begins with two slashes, and so some libraries keep both. On Linux it
 * is where one slash leads, and whatever compares paths would take it for another place.
 */
#ifndef CORDON_BASE_REAL_PATH_H
#define CORDON_BASE_REAL_PATH_H

/* As realpath(): out has room for PATH_MAX, or is NULL for one to be freed. NULL with errno. */
char *real_path(const char *path, char *out);

#endif
