/*
 * watch_kernel: what a workload has the kernel keep that no limit of the kernel's counts.
 *
 * A lock on a range of a file (fcntl) is memory of no cgroup and of no resource limit, and there may be millions; so are
 * the names that a file system keeps for a folder that is open, which are few but for an overlay's (workdir: copy). A
 * mapping, and data in a pipe, is memory of a cgroup, but where there is none it is nobody's. How much there is can
 * only be had by listing them (/proc/locks is slower yet by far: the kernel goes through it from its beginning for each
 * page that is read, and stops all who lock meanwhile), which is too dear to be done all the time: they are counted
 * when the memory of the host's kernel, its unreclaimable slab and the pages that nobody else accounts for, has grown
 * by so much since the last count that they could be over the limit, and from then on about once a second for as long
 * as they are more than an eighth of it; fewer do not count. A count stops when it has found more than the limit; it
 * takes at most a fifth of the time, or half of it while there are many.
 *
 * They are never more than what that memory has grown by since the watch began. So much counts where they could not be
 * counted: where that took longer than WATCH_KERNEL_US, since whoever makes it long would hide behind that, or where,
 * twice in a row, there was a process that only root may look at. A lock of an open file (flock, F_OFD_SETLK) that
 * processes share counts for each of them; a pipe, and a socket that cannot be asked, with the most that it can hold; a
 * folder with what its own size and kind make likely (watch_files.h).
 *
 * What others have of it and give back meanwhile hides as much of the workload's.
 */
#ifndef CORDON_SUPERVISE_WATCH_KERNEL_H
#define CORDON_SUPERVISE_WATCH_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	WATCH_KERNEL_US = 1000000,
	WATCH_KERNEL_BYTES = 192 /* of one of them; a whole number of them in a page or two */
};

/* What grows by itself is looked at by itself: what is given back of the one must not hide the other. */
struct watch_memory {
	uint64_t slab;	/* what cannot be reclaimed of it: locks, mappings, small pieces of data */
	uint64_t pages; /* that are nothing that has a name: larger pieces, pipes */
};

struct watch_kernel {
	struct watch_memory before; /* the least that each was since the watch began */
	struct watch_memory now, last; /* at the last look, and at the one before */
	struct watch_memory seen; /* at the last count */
	uint64_t found;  /* by it, bytes */
	bool all;	 /* it came to no end: all that the memory has grown by counts */
	unsigned hidden; /* so many counts in a row met a process that cannot be looked at */
	uint64_t after_us, again_us; /* no count before this time; one at this time, if there was much */
};

/* What one count found. */
struct watch_kernel_count {
	uint64_t n;	/* locks, mappings and what folders take, in such pieces */
	uint64_t bytes; /* that pipes hold, and sockets that cannot be asked, at most */
	bool cut;    /* it took too long */
	bool hidden; /* it was refused a look */
};

/* Before anything runs that could take some: buffers fill in a few milliseconds. */
void watch_kernel_init(struct watch_kernel *k);

/* Reads how much memory it is. True: they have to be counted, for with what is used of the limit they could be over it.
 */
bool watch_kernel_due(struct watch_kernel *k, uint64_t limit, uint64_t used, uint64_t now_us);

/* Did it grow fast, from one look to the next? Then the next one shall not be late. */
bool watch_kernel_grows(const struct watch_kernel *k, uint64_t limit);

/* Are so many bytes, if they can be so many, over the limit? */
bool watch_kernel_is_over(const struct watch_kernel *k, uint64_t bytes, uint64_t limit);

/* They were, in so much time of a CPU. */
void watch_kernel_counted(struct watch_kernel *k, const struct watch_kernel_count *c, uint64_t limit, uint64_t now_us,
			  uint64_t spent_us);

/* What they count as. */
uint64_t watch_kernel_bytes(const struct watch_kernel *k, uint64_t limit);

/* Of a text like /proc/meminfo's; pages are what is left when all that is named is taken away. Bytes. */
struct watch_memory watch_kernel_memory(const char *meminfo);

#endif
