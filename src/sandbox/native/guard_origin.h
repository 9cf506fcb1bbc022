/*
 * guard_origin: what a place inside is called on the host by now.
 *
 * Another sandbox, whose work folder holds ours, may give our work folder another name while we write to it, or one
 * above it; so may the host. Inside it is called as before, and what programs outside obey goes by the new name: an
 * empty folder becomes .git, and gets its config afterwards. So the guard judges every place by both names. It asks the
 * kernel, whose mounts go along with the folders that they show, at each call, before and after it did what was asked:
 * whoever renames looks, likewise, into the folder afterwards, so that one of the two sees both.
 *
 * A folder that a command holds open may also be moved out of what is shown. Then the kernel's name for it is none
 * inside.
 */
#ifndef CORDON_NATIVE_GUARD_ORIGIN_H
#define CORDON_NATIVE_GUARD_ORIGIN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/plan.h"

struct origin_mount {
	uint64_t mount;
	const struct plan_origin *of;
};

struct origins {
	struct origin_mount *v;
	size_t n;
	int proc;    /* borrowed */
	bool unique; /* the kernel tells of one mount by itself */
};

/* When the root was entered. proc: of the eyes; nothing is freed: it lasts as long as PID 1. 0 or -errno. */
int origins_init(struct origins *o, const struct plan *p, int proc);

enum { ORIGIN_SAME, ORIGIN_OTHER, ORIGIN_LOST };

/*
 * What the host calls the file or folder, whose canonical path inside is given. ORIGIN_OTHER: it has another name by
 * now, which is in `other`. ORIGIN_SAME: it has not, or is none of the host's. ORIGIN_LOST: it is where we know no name
 * for it.
 */
int origins_ask(const struct origins *o, int fd, const char *path, char other[PATH_MAX]);

#endif
