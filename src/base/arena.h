/*
 * arena: many small allocations with one end.
 *
 * Memory comes zeroed and 16-byte aligned, and lives until arena_free(). There is no maximum: bound the
 * input instead. An allocation that fails returns NULL and marks the arena; callers that
 * build large structures may check arena_failed() once at the end, provided that they tolerate NULL.
 */
#ifndef CORDON_BASE_ARENA_H
#define CORDON_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

struct arena;

struct arena *arena_new(void); /* NULL: no memory */
void arena_free(struct arena *a); /* NULL is fine */

/* As new: what it gave is gone, but the memory of a small one stays for the next. */
void arena_reset(struct arena *a);

void *arena_alloc(struct arena *a, size_t n);
void *arena_array(struct arena *a, size_t count, size_t size); /* checks count * size */
char *arena_str(struct arena *a, struct sv s);	/* a NUL-terminated copy */
char *arena_join(struct arena *a, const struct sv *parts, size_t n); /* the same of all of them, one behind the other */
char **arena_strings(struct arena *a, const char *const *v); /* copies of NULL-terminated strings; of NULL: of none */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool arena_failed(const struct arena *a);

#endif
