/*
 * guard_judge: which rule, if any, a path meets.
 */
#ifndef CORDON_NATIVE_GUARD_JUDGE_H
#define CORDON_NATIVE_GUARD_JUDGE_H

#include "sandbox/native/guard.h"

/* The rule that forbids path (canonical), or NULL. folder: what stands or would stand there is a folder. write: it would be made or written. */
const char *guard_judge(const struct guard *g, const char *path, bool folder, bool write);

/*
 * A folder is to be called `to` instead of `from`. The rule that something in it would then meet, or NULL. Looks into the folder only where a pattern could
 * match below the new name that could not below the old; gives up, with a rule, past a bounded number of entries.
 */
const char *guard_judge_move(const struct guard *g, int dir, const char *name, const char *from, const char *to);

#endif
