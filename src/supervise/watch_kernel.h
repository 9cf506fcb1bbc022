/*
 * watch_kernel: what a workload has the kernel keep that no limit of the kernel's counts.
 *
 * A lock on a range of a file (fcntl) is memory of no cgroup and of no resource limit, and there may be millions; a mapping is memory of a cgroup, but where there is none it is nobody's. Their numbers can only be
 * had by listing them (/proc/locks is slower yet by far: the kernel goes through it from its beginning for each page that is read, and stops all who lock meanwhile), which is too dear to be done all the time: they are counted when the
 * host's unreclaimable slab, where both lie, has grown by so much since the last count that they could be over the limit, and from then on about once a second for as long as they are more than an eighth of it; fewer do not count. A
 * count stops when it has found more than the limit; it takes at most a fifth of the time, or half of it while there are many.
 *
 * They are never more than what the slab has grown by since the watch began. So much counts where they could not be counted: where that took longer than WATCH_KERNEL_US, since whoever makes it long would hide behind that, or where, twice
 * in a row, there was a process that only root may look at. A lock of an open file (flock, F_OFD_SETLK) that processes share counts for each of them.
 *
 * Other people's slab that is given back meanwhile hides as much of the workload's.
 */
#ifndef CORDON_SUPERVISE_WATCH_KERNEL_H
#define CORDON_SUPERVISE_WATCH_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { WATCH_KERNEL_US = 1000000, WATCH_KERNEL_BYTES = 192 /* of one of them; a whole number of them in a page or two */ };

struct watch_kernel {
	bool begun;
	uint64_t before; /* the least that the slab was since the watch began */
	uint64_t now;
	uint64_t seen;	 /* at the last count */
	uint64_t found;  /* by it, bytes */
	bool all;	 /* it came to no end: all that the slab has grown by counts */
	unsigned hidden; /* so many counts in a row met a process that cannot be looked at */
	uint64_t after_us, again_us; /* no count before this time; one at this time, if there was much */
};

/* What one count found. */
struct watch_kernel_count {
	uint64_t n;
	bool cut;    /* it took too long */
	bool hidden; /* it was refused a look */
};

/* Reads the slab. True: they have to be counted, for with what is used of the limit they could be over it. */
bool watch_kernel_due(struct watch_kernel *k, uint64_t limit, uint64_t used, uint64_t now_us);

/* They were, in so much time of a CPU. */
void watch_kernel_counted(struct watch_kernel *k, const struct watch_kernel_count *c, uint64_t limit, uint64_t now_us, uint64_t spent_us);

/* What they count as. */
uint64_t watch_kernel_bytes(const struct watch_kernel *k, uint64_t limit);

/* The unreclaimable slab in a text like /proc/meminfo's, in bytes; 0: it does not say. */
uint64_t watch_kernel_slab(const char *meminfo);

#endif
