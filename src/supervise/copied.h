/*
 * copied: which folders of the host a copy was made of, which other names there were, and when it stood, so that what
 * the host did since is told from what the run did.
 *
 * When a folder is moved, what is in it keeps all its times: nothing but the folder's own identity says that it was not
 * there, or that another one was, when the copy was made. The same holds for the folders of the copy itself: in one
 * that still stands where it was made, whatever has not changed since copied_stands() is as it was copied. Nobody sets
 * a ctime.
 *
 * Numbers of devices are given anew with every mount. So what counts is that a folder is on the device of the top, then
 * and now, whatever the number of that: its own number and the time of its birth say the rest. Where there are no such
 * times, the device must be the very one. The copy is all on one device, where only we mount anything.
 *
 * Of an overlay only the names are noted, when its run starts: neither its layers nor a folder's times say whether what
 * is in the layer above and not on the host is new, or was deleted there meanwhile.
 *
 * Kept in a file beside a copy that outlives its run.
 */
#ifndef CORDON_SUPERVISE_COPIED_H
#define CORDON_SUPERVISE_COPIED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "sys/names.h"

struct changes;

struct copied_folder {
	char *path; /* below the top */
	dev_t dev;  /* the host's; from here on all 0: what was there, folder or not, is known by its name only */
	bool with_top; /* on the device of the top */
	ino_t ino;
	struct timespec born; /* numbers are used again */
	ino_t copy_ino;	      /* the copy's; 0: not one that was made with it */
};

/* Zero it. */
struct copied {
	struct copied_folder *v;
	size_t n, cap;
	bool sorted;
	struct timespec stands; /* 0: not known */
	char *other_group;      /* of copied_note(): the first thing that is the caller's and of another group than his;
				   NULL: there is none, or he is root */
};

/* Which folder is at name; "": that of the descriptor. 0 or -errno. */
int copied_look(int dir, const char *name, struct sys_facts *ret);

/* 0 or -ENOMEM. top: the device of the top; copy: the number of the folder that was made, 0 where there is none. */
int copied_add(struct copied *c, const char *path, const struct sys_facts *host, dev_t top, ino_t copy);

/* Something has this name. 0 or -ENOMEM. */
int copied_name(struct copied *c, const char *path);

/* The names of all that is below the folder, but for other file systems and what cannot be read; -E2BIG: more than
 * CHANGES_ENTRIES. 0 or -errno, with nothing noted. */
int copied_note(struct copied *c, int top);
/* Keeps of the names those that are in the upper folder of an overlay, too: nobody will ask for others. 0, or -errno
 * with all of them kept. */
int copied_narrow(struct copied *c, int upper);

/* The copy is made. What changes in it from the next tick of the clock on is the run's; copied_settle() waits for that.
 */
void copied_stands(struct copied *c);
void copied_settle(const struct copied *c);

/* Something had this name. */
bool copied_knows(struct copied *c, const char *path);
/* The host's folder at path is the one that was copied. */
bool copied_has(struct copied *c, const char *path, const struct sys_facts *host, dev_t top);
/* The copy's folder at path is the one that was made there. */
bool copied_made(struct copied *c, const char *path, ino_t ino);
/* At this time nothing of the run's had changed. */
bool copied_before(const struct copied *c, struct timespec changed);

/* The changes of the list that were not refused are applied: their folders are no strangers from now on. 0 or -errno.
 */
int copied_follow(struct copied *c, int lower, const struct changes *list);

/* 0 or -errno; -ENOENT: nothing was kept. */
int copied_store(const struct copied *c, int state_fd);
int copied_load(struct copied *c, int state_fd);
void copied_done(struct copied *c);

#endif
