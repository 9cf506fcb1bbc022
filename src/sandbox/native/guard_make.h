/*
 * guard_make: what all calls have in common that make a name, or change what has one: the question before, and the one
 * after. For guard.c, guard_bind.c and guard_mode.c.
 */
#ifndef CORDON_NATIVE_GUARD_MAKE_H
#define CORDON_NATIVE_GUARD_MAKE_H

#include "sandbox/native/guard_job.h"
#include "sandbox/native/guard_judge.h"

/* May this name be made? 0 or -EACCES, which the audit was told. */
int guard_may_make(const struct job *j, struct place *p, enum guard_what what);

/*
 * May what stands there have another name, or mode? What is denied or protected, made by the host just now and covered
 * by nothing yet, could be read and written by that. 0 or -EACCES, which the audit was told.
 */
int guard_may_change_at(const struct job *j, const struct place *p, enum guard_what what);
/* The same of what is open: a name that is gone counts as long as the file has others. -ENOENT: it has none in here. */
int guard_may_change(const struct job *j, int fd, enum guard_what what);

/* Something stands there now: may it, whatever became of the folder meanwhile? */
int guard_judge_again(const struct job *j, struct place *p, enum guard_what what);

/* The same for what we made just now, which goes where it may not. */
int guard_keep_made(const struct job *j, struct place *p, enum guard_what what);

/* mknod() of what has no device, and was judged: own_files.h knows it where that is of interest. 0 or -errno. */
int guard_make_node(const struct job *j, struct place *p, mode_t mode);

/* Sets the caller's umask for one call of ours. */
void guard_wear_umask(const struct job *j);

#endif
