/*
 * policy_cache: effective policies kept on disk, so that a sandbox does not start with parsing.
 *
 * An entry holds its key, every file that the load looked at (with where its path led and the digest of its bytes, or
 * that it was not there), the policy's digest and its encoding, and a digest over all of that. A hit reads and digests
 * those files again: what is returned is what loading would give. The key covers everything else that a load depends
 * on, this very executable included.
 *
 * Only saves time: a cache that cannot be read, written or trusted (owner, mode, digest) is passed over without a word.
 * The folder is 0700, entries 0600, both the user's; a sandbox never sees it (policy_compile.c denies it). Entries
 * share a fixed number of places, so the folder stays small.
 */
#ifndef CORDON_POLICY_CACHE_H
#define CORDON_POLICY_CACHE_H

#include "base/sha256.h"
#include "model/policy.h"
#include "policy/policy_compile.h"

struct cache_file {
	const char *path; /* absolute */
	const char *real; /* without links, since what it extends is looked for beside that; NULL: it does not exist */
	unsigned char digest[SHA256_SIZE]; /* of its bytes, where it exists */
};

struct cache_files {
	struct cache_file v[POLICY_MAX_FILES * 2];
	uint32_t n;
	bool wait; /* for what somebody writes to a pipe of the command line's */
	bool skip; /* not to be cached: nobody wants it, more files than fit, or one that could not be read */
};

struct cache_key {
	unsigned char bytes[SHA256_SIZE];
};

/* 0 or -errno: no cache for this run. cwd matters only where a source is a relative path; else it may be NULL. */
int policy_cache_key(const struct policy_request *req, const char *cwd, struct cache_key *ret);

/* 0: a hit. -errno: none. */
int policy_cache_get(const char *dir, const struct cache_key *key, struct policy **ret, char digest[SHA256_HEX]);

/* 0 or -errno. encoding: of policy_encode(). */
int policy_cache_put(const char *dir, const struct cache_key *key, const struct cache_files *files,
		     const char digest[SHA256_HEX], struct sv encoding);

/*
 * Reads path and notes in files what was there. As buf_read_file(), but -ENOENT only where nothing has that name;
 * -ENOLINK: a link leads nowhere. *real: where the path led, in the arena; the path itself for what has no other name,
 * such as a pipe.
 */
int policy_cache_read(struct cache_files *files, struct arena *a, const char *path, struct buf *bytes,
		      const char **real);

/* Opens a pipe without a name, to be waited for: it is there because somebody handed it over (/dev/stdin, <(...)). -1:
 * the path leads to something else; a FIFO in the place of a file is not waited for. */
int policy_cache_open_pipe(const char *path);

#endif
