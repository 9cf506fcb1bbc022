/*
 * credentials_read: the operator's credentials.yaml as it lies on disk, with the known credentials (vault/known.h)
 * added; and what it means for a policy, without a value of any of them.
 *
 * Needed by the vault, which fetches values, and by the command line, which must hide the files that hold them from
 * every sandbox, and tells before a run what it would lack.
 */
#ifndef CORDON_VAULT_CREDENTIALS_READ_H
#define CORDON_VAULT_CREDENTIALS_READ_H

#include "base/error.h"
#include "vault/credential.h"

/*
 * path: that of the file; one that does not exist holds no credentials. Whoever can write it can have any command run
 * as this user: it must be a regular file that is the user's or root's, and that nobody else can write. On success *ret
 * is the caller's (credentials_free()).
 */
int credentials_read(const char *path, struct credentials **ret, struct error *err);

/* Where a file is whose name may start with "~/", which is $HOME. 0 or -1. */
int credentials_file_path(const char *path, char *to, size_t size, struct error *err);

/* The files that hold values, by the names that are written; they need not exist. NULL-terminated, in the arena of c;
 * NULL: no memory. */
const char *const *credentials_files(const struct credentials *c);

#endif
