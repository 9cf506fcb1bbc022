/*
 * guard: makes names in the file system, and opens files to write to, on the workload's behalf, so that denied and
 * protected paths hold although they do not exist yet.
 *
 * The filter hands every call that makes a name (open with O_CREAT, mkdir, rename, link, symlink, mknod, bind) to PID
 * 1, and every open for writing: the host may make a protected file at any moment, and nothing covers it yet. So go the
 * calls that change modes and attributes (guard_mode.h). The guard copies the arguments once, resolves the folder to an
 * fd, judges the canonical path, and does the call itself on that fd: what is judged is what is done, whatever the
 * workload writes to its memory meanwhile. It works in PID 1's single thread, so no rename of the sandbox's own can
 * come between the judging and the doing; for one by another sandbox in the same folder it judges again when it is
 * done, and takes back what it did.
 *
 * It has the workload's user id and none of the capabilities that change what files allow. It never follows a magic
 * link but those of the caller's own /proc/self, and holds no fd that leads outside the sandbox.
 */
#ifndef CORDON_NATIVE_GUARD_H
#define CORDON_NATIVE_GUARD_H

#include <stdbool.h>

#include "base/sv.h"
#include "model/plan.h"
#include "sandbox/native/guard_path.h"

struct guard_index;
struct own_files;

struct guard {
	const struct plan *plan;
	struct guard_index *index; /* by guard_judge.h */
	struct eyes eyes;
	struct own_files *own;
	void (*denied)(void *arg, const char *rule, struct sv path); /* for the audit */
	void (*give_up)(void *arg, struct sv path,
			const char *why); /* what is denied stands open there: ends the sandbox, and does not return */
	void *arg;
};

struct seccomp_call;

/* Answers one waiting call of a guarded kind. */
void guard_answer(const struct guard *g, int listener, const struct seccomp_call *call);

#endif
