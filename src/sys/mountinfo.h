/*
 * mountinfo: what is mounted where, as proc(5) writes it in /proc/self/mountinfo.
 */
#ifndef CORDON_SYS_MOUNTINFO_H
#define CORDON_SYS_MOUNTINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/sv.h"

enum { SYS_MOUNTINFO_MAX = 8 << 20 };

struct sys_mount {
	uint64_t id; /* no other mount has it now */
	struct sv device;  /* "8:1": the file system; borrowed from the text */
	const char *root;  /* which part of it: "/" is all */
	const char *point; /* where that is seen */
	bool automounter;  /* a look below it would mount something */
};

/* All of this process's, into a buffer that is empty. 0 or -errno. */
int sys_mountinfo_read(struct buf *out);

/* Takes the next mount from the text; lines that are none are passed over. Strings are in the arena. 1; 0: there are no
 * more; -ENOMEM. */
int sys_mountinfo_next(struct sv *text, struct arena *arena, struct sys_mount *ret);

#endif
