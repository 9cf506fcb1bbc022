/*
 * mode: what --chmod says: octal digits, or changes as chmod(1) has them ("u=rwX,go=rX", "a+x").
 *
 * Where no one is named ("+w"), the bits of a umask of 022 are left alone. X is x for folders, and for files that
 * somebody may execute already. Pure.
 */
#ifndef CORDON_IMAGE_MODE_H
#define CORDON_IMAGE_MODE_H

#include <stdbool.h>
#include <sys/types.h>

enum { MODE_TEXT_MAX = 64 };

bool mode_is_valid(const char *text);

/* The mode that a file of mode `old` gets; text must be valid. 07777 at most. */
mode_t mode_change(const char *text, mode_t old, bool folder);

#endif
