/*
 * secret: bytes that must not be seen.
 *
 * A secret lives alone in memory of its own: locked where the limit allows it (else it may be swapped out), never in a
 * core dump, read as zeros in a forked child, read-only once it is made, wiped when it is freed. There is no accessor:
 * plaintext leaves only through secret_use(), so that one grep finds every use (its pages: base/secret_memory.h).
 * Nothing here prints, and no error holds a byte of it.
 *
 * At most SECRET_MAX bytes, at least one. secret_new() copies: wiping the source is the caller's (secret_wipe()).
 */
#ifndef CORDON_BASE_SECRET_H
#define CORDON_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/secret_memory.h"
#include "base/sv.h"

enum { SECRET_MAX = 64 * 1024 };

struct secret;

/* 0; -EINVAL: empty or too long; -ENOMEM. */
int secret_new(struct sv bytes, struct secret **ret);
void secret_free(struct secret *s); /* NULL is fine */

/*
 * Calls fn with the plaintext and returns what it returns. The view ends with the call; whatever fn copies is fn's to
 * wipe. In a forked child: -ENODATA, and fn is not called.
 */
int secret_use(const struct secret *s, int (*fn)(struct sv plain, void *arg), void *arg);

/* How many bytes it has. */
size_t secret_size(const struct secret *s);

/* In a time that depends on the two lengths only. */
bool secret_equal(const struct secret *s, struct sv bytes);

static inline void cleanup_secret(struct secret **s)
{
	secret_free(*s);
}

#define AUTO_SECRET __attribute__((cleanup(cleanup_secret))) struct secret

#endif
