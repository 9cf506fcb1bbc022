/*
 * watch_files: files that processes of a sandbox hold without a name in it, each counted once however many have it.
 *
 * Holds WATCH_FILES_MAX different ones. Where there are more, or no memory for them, the sum is UINT64_MAX: nobody hides behind a number.
 */
#ifndef CORDON_SUPERVISE_WATCH_FILES_H
#define CORDON_SUPERVISE_WATCH_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WATCH_FILES_MAX = 65536 };

struct watch_file {
	dev_t dev;
	ino_t ino; /* 0: a free place */
	uint64_t bytes;
	bool exact; /* of one that is open; else it is the least that it can be */
};

struct watch_files {
	struct watch_file *v; /* by a hash; cap is a power of two */
	size_t n, cap;
	bool full;
	bool numbers_are_ours; /* for the functions below: see watch_proc_each_table() */
};

void watch_files_done(struct watch_files *f);

/* Of one that is there already the larger size counts, or the exact one. */
void watch_files_add(struct watch_files *f, struct watch_file file);
const struct watch_file *watch_files_find(const struct watch_files *f, dev_t dev, ino_t ino); /* NULL: not there */
uint64_t watch_files_bytes(const struct watch_files *f);

/* What a process adds to a struct watch_files: memfds that it has open; */
void watch_files_memory(int proc, const char *pid, void *files);
/* deleted files that it has open; */
void watch_files_deleted(int proc, const char *pid, void *files);
/* shared anonymous memory, a file without a name, and memfds that it has mapped: a mapping's end tells the least size. */
void watch_files_shared(int proc, const char *pid, void *files);

#endif
