/*
 * cgroup_place: the folders in which a run's cgroup belongs. The rules are in sys/cgroup.h; this is the half that only
 * looks.
 *
 * cgroup_places() changes nothing but the subtree_control of the v2 folder that it chose. The caller closes the fds.
 * Everything is read into fixed buffers; a file or path that does not fit counts as absent.
 */
#ifndef CORDON_SYS_CGROUP_PLACE_H
#define CORDON_SYS_CGROUP_PLACE_H

#include <stdbool.h>

#include "sys/cgroup.h"

enum { CGROUP_PLACES = 4 }; /* v1 memory, pids and cpu, and v2 */

struct cgroup_place {
	int fd; /* O_DIRECTORY */
	bool v2;
	unsigned bits; /* CGROUP_ limits that can be set below it */
};

/* want: CGROUP_ bits; track: a v2 place even without a bit. Returns how many places. */
unsigned cgroup_places(const struct cgroup_env *env, unsigned want, bool track, struct cgroup_place out[CGROUP_PLACES]);

/* The cgroups themselves that env->self lies in, where the last component of their path is name. */
unsigned cgroup_places_named(const struct cgroup_env *env, const char *name, struct cgroup_place out[CGROUP_PLACES]);

/* Sets the limits of `bits` in a cgroup that is there. What holds after it: those bits, and CGROUP_SWAP. */
unsigned cgroup_set_limits(int dir, bool v2, unsigned bits, const struct cgroup_limits *limits);

/* Reads a small file into out, NUL-terminated. Its length, or -errno; -EFBIG when it does not fit. */
int cgroup_read(int dir, const char *file, char *out, unsigned cap);

/* Writes a short text. 0 or -errno. */
int cgroup_write(int dir, const char *file, const char *text);

#endif
