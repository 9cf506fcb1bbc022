/*
 * secret_memory: pages for bytes that must not be seen: locked where the limit allows it (else they may be swapped
 * out), never in a core dump, read as zeros in a forked child, wiped when they are freed.
 *
 * Apart from base/secret.h, so that a program that only searches for what must not leave it (search automata, held-back
 * bytes) has no code that holds or opens a secret.
 */
#ifndef CORDON_BASE_SECRET_MEMORY_H
#define CORDON_BASE_SECRET_MEMORY_H

#include <stddef.h>

/* Zeroed and writable. NULL: none left. The free wipes, sealed or not; n is what was asked for. */
void *secret_memory_new(size_t n);
void secret_memory_free(void *p, size_t n); /* NULL is fine */

/* No more writes. 0 or -errno. */
int secret_memory_seal(void *p, size_t n);

/* Overwrites in a way that no compiler drops. */
void secret_wipe(void *p, size_t n);

#endif
