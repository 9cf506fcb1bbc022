/*
 * cachefile: small files of the user's own that only save time.
 *
 * A file is used as a whole or not at all: it is the user's, nobody else may read or write it, and its bytes end in
 * their SHA-256. Writing replaces it at once; whoever reads meanwhile sees the old bytes or the new ones. Nothing is
 * synced: a file that a crash cut short fails its digest.
 */
#ifndef CORDON_BASE_CACHEFILE_H
#define CORDON_BASE_CACHEFILE_H

#include "base/buf.h"
#include "base/sha256.h"

/* Another build may come to other results: the executable's identity belongs into every key. 0 or -errno. */
int cachefile_add_self(struct sha256 *s);

/* The bytes, without the digest, in `out`, whose maximum holds. -EPERM: not the user's alone; -EBADMSG: damaged. */
int cachefile_read(const char *dir, const char *name, struct buf *out);
/* The same of a file that begins with these bytes, CACHEFILE_HEAD_MAX at most. -ESTALE: with others, and no more of it
 * was read. */
enum { CACHEFILE_HEAD_MAX = 64 };
int cachefile_read_of(const char *dir, const char *name, struct sv head, struct buf *out);

/* Makes dir, and the folder it is in, where they are missing. Adds the digest to `bytes`. */
int cachefile_replace(const char *dir, const char *name, struct buf *bytes);

#endif
