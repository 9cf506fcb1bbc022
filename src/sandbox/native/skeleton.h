/*
 * skeleton: the folders, empty files, links and small made files of a sandbox's root, kept below the user's cache, so
 * that a start does not make them again.
 *
 * There is one for each set of places: CACHE/roots/DIGEST/root, DIGEST being that of all that places_make() would make.
 * It is made under another name, written to disk and renamed, and never changed again. Sandboxes see it read-only, and
 * mounts over its places are theirs alone. No policy can show the cache to a sandbox (policy_compile.c denies it).
 *
 * A plan that makes files for one run alone (those with a size: the gateway's certificates) has none.
 *
 * Verified at each use: that ROOTS, DIGEST and root are the user's own and closed to others (owner, mode, no link); the
 * bytes, owner and mode of each small made file and the target of each link; that the masks show nothing (root.c). What
 * fails is removed, and the run goes on without. Not verified: that there is nothing more in it than the plan makes,
 * and the modes of folders and empty files that something is mounted over. Only the user can write there, who is
 * trusted; a place that is missing fails the run with its name, and the skeleton goes.
 *
 * Only saves time: where a skeleton is missing, or cannot be trusted, a sandbox makes its places in a tmpfs. One in use
 * is locked: when more than SKELETON_KEEP stand there, the oldest that nobody uses go. Who deletes one in use takes
 * folders away from the sandbox, and shows it nothing: what was mounted there goes with the place, and PID 1 ends the
 * run when it can cover no more names (rescan.h).
 */
#ifndef CORDON_NATIVE_SKELETON_H
#define CORDON_NATIVE_SKELETON_H

#include <stdbool.h>

#include "model/plan.h"

enum { SKELETON_KEEP = 32 };

/* Finds the skeleton for a plan and sets plan->skeleton. An fd that keeps it from being removed, or -errno: there is
 * none. Nothing may run on it before skeleton_is_whole() has said so. */
int skeleton_find(const char *cache, struct plan *plan);

/* Looks at what is in it, which takes longer than to find it: when the sandbox is being made, and nobody waits for
 * that. */
bool skeleton_is_whole(int fd, const struct plan *plan);

/* The sandbox is gone. damaged: it may be the skeleton's fault that it failed, so that goes too, unless somebody else
 * uses it. */
void skeleton_release(int fd, const struct plan *plan, bool damaged);

/* For the runs to come: leaves a mark, an empty folder, the first time, since many a work folder is used once; makes a
 * skeleton the second time. Changes umask and current folder meanwhile. 0 or -errno. */
int skeleton_make(const char *cache, const struct plan *plan);

#endif
