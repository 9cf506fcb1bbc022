/*
 * watch_files: files that processes of a sandbox hold without a name in it, each counted once however many have it.
 *
 * Holds WATCH_FILES_MAX different ones. Where there are more, or no memory for them, the sum is UINT64_MAX: nobody
 * hides behind a number.
 */
#ifndef CORDON_SUPERVISE_WATCH_FILES_H
#define CORDON_SUPERVISE_WATCH_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	WATCH_FILES_MAX = 65536,
	WATCH_PIPE_BYTES =
		65536, /* as the kernel makes them; where nobody else counts them the filter lets none become larger */
	WATCH_FOLDER_BYTES = 32 << 10, /* a file system's names, of a folder that was read from */
	WATCH_MERGED_BYTES = 1 << 20,  /* the same of an overlay's, and of a file on its way through a socket */
	WATCH_MERGED_NAMES = 16, /* an overlay's list of names takes up to so many times what its upper folder does */
};

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
	bool hidden; /* there was a process that may have more of them: watch_proc_is_hidden() */
	bool more_threads; /* there was one with more threads than were looked at */
	/* For the functions below: as watch_proc_each_table() and watch_proc_is_hidden() have it; and
	 * watch_files_device(). */
	bool numbers_are_ours;
	bool all_threads; /* however many, although the numbers are not ours */
	pid_t ahead;
	dev_t device;
	/* What watch_files_locks(), _maps() and _folders() count, pieces of WATCH_KERNEL_BYTES, up to `most`, or until
	 * watch_proc_spent_us() is over; then they stop. */
	uint64_t counted, most, until_us;
	uint64_t most_pipes; /* watch_files_pipes() stops at so many, too */
	bool cut; /* it was */
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
/* shared anonymous memory, a file without a name, and memfds that it has mapped: a mapping's end tells the least size.
 */
void watch_files_shared(int proc, const char *pid, void *files);

/* What it adds to `counted`: the locks of files that it has open, */
void watch_files_locks(int proc, const char *pid, void *files);
/* its mappings, */
void watch_files_maps(int proc, const char *pid, void *files);
/* and as many as take the memory of the names that the kernel keeps for each folder that is open: at most, since nobody
 * tells. Files that are on their way through sockets may be such folders. */
void watch_files_folders(int proc, const char *pid, void *files);
/* What it adds to a struct watch_files until then: the pipes that it has, each with the most that it can hold. */
void watch_files_pipes(int proc, const char *pid, void *files);

/* The kernel's own file system in memory, where all of these are, whatever a process calls them; 0: it cannot be told.
 */
dev_t watch_files_device(void);
/* A line of "maps" that is about such memory. Not System V segments: kernel.shmall bounds them, and their numbers could
 * be those of others. */
bool watch_files_line(const char *line, dev_t device, struct watch_file *ret);

#endif
