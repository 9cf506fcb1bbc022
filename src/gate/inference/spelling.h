/*
 * spelling: whether a careless parser would take one name for the other.
 *
 * Case is folded as Go's JSON decoder does (U+017F and U+212A are s and k to it), and underscores are dropped (protobuf
 * reads file_data and fileData alike).
 */
#ifndef CORDON_GATE_INFERENCE_SPELLING_H
#define CORDON_GATE_INFERENCE_SPELLING_H

#include "base/json_scan.h"

bool spelling_alike(struct sv a, const char *b);

/* a ends in, or contains, something that is alike to b. */
bool spelling_ends(struct sv a, const char *b);
bool spelling_has(struct sv a, const char *b);

/* The first member of the object that is alike to one of `names` (NULL-terminated), but not spelled so, as a key's
 * index; or 0. */
uint32_t spelling_odd(const struct json_scan *s, uint32_t object, const char *const *names);

#endif
