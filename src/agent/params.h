/*
 * params: what a request's parameters hold, as C strings.
 */
#ifndef CORDON_AGENT_PARAMS_H
#define CORDON_AGENT_PARAMS_H

#include "base/arena.h"
#include "base/json_scan.h"

/* The value of a key, where there is something that could have it: to json_scan.h 0 is the document as well as nothing.
 */
uint32_t params_get(const struct json_scan *s, uint32_t of, const char *key);

/* The string at a node, decoded, in the arena. NULL: it is none, has a NUL in it, or there is no memory. */
const char *params_string(const struct json_scan *s, uint32_t i, struct arena *a);

/* A whole number of 0 or more at a node, or `otherwise`. */
uint64_t params_count(const struct json_scan *s, uint32_t i, uint64_t otherwise);

#endif
