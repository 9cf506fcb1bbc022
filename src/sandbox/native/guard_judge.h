/*
 * guard_judge: which rule, if any, a path meets.
 */
#ifndef CORDON_NATIVE_GUARD_JUDGE_H
#define CORDON_NATIVE_GUARD_JUDGE_H

#include <sys/stat.h>

#include "sandbox/native/guard.h"

/* For struct guard: which of the plan's patterns a path could meet at all, by its names. Made when it is first asked.
 * NULL: no memory. */
struct guard_index *guard_index_new(const struct plan *p);

/* What stands or would stand at a path. */
enum guard_what { GUARD_FILE, GUARD_FOLDER, GUARD_LINK };

static inline enum guard_what guard_what(mode_t mode)
{
	return S_ISDIR(mode) ? GUARD_FOLDER : S_ISLNK(mode) ? GUARD_LINK : GUARD_FILE;
}

/* The rule that forbids path (canonical), or NULL. write: it would be made or written. */
const char *guard_judge(const struct guard *g, const char *path, enum guard_what what, bool write);

/*
 * The same for a place, by all the names that it has. A name on the host is no name of the sandbox's own places, such
 * as /tmp, whatever it reads like.
 */
const char *guard_judge_place(const struct guard *g, const struct place *p, enum guard_what what, bool write);

/*
 * The rule against making or writing path where that makes a repository, or tells git something in one that is there
 * (see model/repository.h), or NULL.
 */
const char *guard_judge_repository(const struct guard *g, const char *path);
/* The same for what was just made at path, as if it were not there yet. */
const char *guard_judge_made(const struct guard *g, char *path);
/* path is a part of a repository that is there. */
bool guard_in_repository(const char *path);

/* A file that gives whoever executes it rights is not written to: the rule, and whether it is one by its mode. */
extern const char guard_gives_rights[];
bool guard_is_setid(const struct stat *st);

/* What stands or would stand at path is in a folder of the host's, where others make names too. */
bool guard_is_shared(const struct guard *g, const char *path);

/*
 * The rule against what stands at path where it is a socket or a FIFO that the workload did not make (own_files.h), or
 * NULL. It must not get another name, nor be opened for writing, before it is covered.
 */
const char *guard_judge_foreign(const struct guard *g, const char *path, const struct stat *st);

/* The rule against letting other users into a folder that keeps them out, or NULL. */
const char *guard_judge_letting_in(const struct guard *g, const char *folder);

/*
 * A folder, which stands at one of the two, is to be called `to` instead of `from`. The rule that something in it would
 * then meet, or meets now (it holds a denied or protected name, which stays where it is), or NULL. Looks into the
 * folder only where a pattern could
 * match below one of the names that could not below the other; gives up, with a rule, past a bounded number of entries.
 */
const char *guard_judge_move(const struct guard *g, const struct place *at, const struct place *from,
			     const struct place *to);

#endif
