/*
 * pattern: names in a build context: Go's filepath.Match(), and .dockerignore.
 *
 * Match: `*` and `?` stay within a component, `[a-c^]` is a class, a backslash takes the next character as it is.
 * Ignore patterns add `**`, any number of components; a pattern also hits what lies below what it matches; the last one
 * that hits decides, and one that begins with "!" brings back.
 *
 * Paths are relative and clean: no "." or "..", no slash at the ends. Pure; no allocation in matching. Time is bounded
 * by the product of the lengths.
 */
#ifndef CORDON_IMAGE_PATTERN_H
#define CORDON_IMAGE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

/* Whole against whole; neither has a "/" that the other's wildcard could pass. *work is counted up by what it took:
 * whoever asks often has a bound. */
bool pattern_match(struct sv pattern, struct sv name, uint64_t *work);

/* False: a class without an end, an escape at the end. */
bool pattern_is_valid(struct sv pattern);

/* Does it have a wildcard, a class or an escape at all? */
bool pattern_is_magic(struct sv pattern);

/* Without ".", "..", double slashes and slashes at the ends, as if "/" were above; "." for the root itself. *ret_left:
 * ".." went above the root. NULL: no memory. */
const char *pattern_clean(struct arena *a, struct sv path, bool *ret_left);

/*
 * Is the path, or a folder that it is in, ignored? patterns: as pattern_ignore_line() gives them; NULL-terminated.
 */
bool pattern_ignored(const char *const *patterns, struct sv path, uint64_t *work);

/* Is there an exception below this folder, perhaps? Then it must be searched although it is ignored. */
bool pattern_may_return(const char *const *patterns, struct sv folder, uint64_t *work);

/* One line of .dockerignore. NULL: an empty one, or a comment. *ret_valid: it is a pattern, without control characters.
 */
const char *pattern_ignore_line(struct arena *a, struct sv line, bool *ret_valid);

#endif
