/*
 * usage: how much some folders hold, measured again and again by a child of ours, so that nobody waits for it.
 *
 * A walk takes at most a fiftieth of the time, a fifth where the file system's free space shrank by a good part of the
 * limit since the last one; a workload is over its limit for about as long as two walks take. What a hostile owner
 * hides from a walk counts as over the limit: a tree deeper than USAGE_MAX_DEPTH, or than we may have files open, or a
 * folder of our own that is shut to us. A file with several names counts once, in parts; one without bytes as 1 KiB, as
 * do links and the like.
 *
 * Owns a child and an fd; usage_done() ends both.
 */
#ifndef CORDON_SUPERVISE_USAGE_H
#define CORDON_SUPERVISE_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { USAGE_MAX_DEPTH = 1000 };

struct usage {
	const char *const *folders; /* NULL-terminated, none in another; borrowed. NULL: none */
	uint64_t limit;	    /* bytes, of all of them */
	int userns;	    /* whose root may read all that is in it (borrowed); -1: we may */
	bool sizes;	    /* no file counts with less than its length */
	uint64_t bytes;	    /* at the last walk */
	/* Of the walks. */
	pid_t child; /* 0: none */
	int answer;
	uint64_t began_us, cost_us, ended_us;
	uint64_t free_seen; /* of their file systems, when the last one began */
	bool began;
	uint64_t free_first;  /* when all began, each file system once */
	uint64_t bytes_first; /* of the first walk */
};

void usage_init(struct usage *u, const char *const *folders, uint64_t limit);
void usage_done(struct usage *u);

/* Starts a walk where it is time, takes the answer of one that has ended. True: an answer came, and u->bytes is new. */
bool usage_poll(struct usage *u);

/* By how much their file systems became less free that is not in the folders: whoever else writes there counts too. */
uint64_t usage_unaccounted(const struct usage *u);

/* What they hold now, waited for, with no file less than its length: what new ones take may be told late. userns: as
 * above. UINT64_MAX where it cannot be told. */
uint64_t usage_now(const char *const *folders, int userns);

/* What a folder holds, by a walk of our own: UINT64_MAX where it cannot be told. */
uint64_t usage_walk(int folder);

#endif
