/*
 * copied: which folders of the host a copy was made of, and when it stood, so that what the host did since is told from what the run did.
 *
 * When a folder is moved, what is in it keeps all its times: nothing but the folder's own identity says that it was not there, or that another one was, when the copy was made. The same holds for the
 * folders of the copy itself: in one that still stands where it was made, whatever has not changed since copied_stands() is as it was copied. Nobody sets a ctime.
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
	dev_t dev;  /* the host's */
	ino_t ino;
	struct timespec born; /* numbers are used again */
	dev_t copy_dev;	      /* the copy's; 0, 0: not one that was made with it */
	ino_t copy_ino;
};

/* Zero it. */
struct copied {
	struct copied_folder *v;
	size_t n, cap;
	bool sorted;
	struct timespec stands; /* 0: not known */
};

/* Which folder is at name; "": that of the descriptor. 0 or -errno. */
int copied_look(int dir, const char *name, struct sys_facts *ret);

/* 0 or -ENOMEM. copy: NULL where there is none. */
int copied_add(struct copied *c, const char *path, const struct sys_facts *host, const struct stat *copy);

/* The copy is made. What changes in it from the next tick of the clock on is the run's; copied_settle() waits for that. */
void copied_stands(struct copied *c);
void copied_settle(const struct copied *c);

/* The host's folder at path is the one that was copied. */
bool copied_has(struct copied *c, const char *path, const struct sys_facts *host);
/* The copy's folder at path is the one that was made there. */
bool copied_made(struct copied *c, const char *path, dev_t dev, ino_t ino);
/* At this time nothing of the run's had changed. */
bool copied_before(const struct copied *c, struct timespec changed);

/* The changes of the list that were not refused are applied: their folders are no strangers from now on. 0 or -errno. */
int copied_follow(struct copied *c, int lower, const struct changes *list);

/* 0 or -errno; -ENOENT: nothing was kept. */
int copied_store(const struct copied *c, int state_fd);
int copied_load(struct copied *c, int state_fd);
void copied_done(struct copied *c);

#endif
