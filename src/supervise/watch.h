/*
 * watch: limits by observation, for runs whose memory no cgroup bounds, and for all what none does; and the disk floor.
 *
 * The supervisor calls watch_poll() every watch.next_ms milliseconds (50; 10 when memory is above half of the limit;
 * 100 where a cgroup counts it). Nothing is killed in here: the verdict tells the caller to.
 *
 * Memory is what cannot be dropped: anonymous pages and shared memory, shared pages counted once. Three steps, each
 * only when the one before asks for it:
 *  1. the sum of resident sizes (statm), page tables and swapped pages is within the limit: fine, and that is the usual
 * end;
 *  2. the sum of Pss (smaps_rollup: Pss_Anon, Pss_Shmem, SwapPss) decides; it is taken for at most a fifth of the time,
 * and twice in a row before the limit counts as exceeded;
 *  3. when the host's shared memory grew by an eighth of the limit: files in memory that no process need map (memfds
 * held open, the file systems in memory that the sandbox has for itself), and shared anonymous memory. Shared memory
 * counts as the larger of Pss_Shmem and those files, so no page counts twice. System V segments that nobody has
 * attached are invisible from outside: bound them by kernel.shmall of the IPC namespace.
 *
 * Nobody but root can ask how large shared anonymous memory is, or a memfd that is closed, of which only a part is
 * still mapped; all its pages stay. As long as the sandbox has some, it is looked at with each poll (a twentieth of the
 * time at most), and polls come at random times. Once one was seen to become smaller, the sandbox counts with all that
 * the host's shared memory has grown by. What is made, filled and unmapped between two looks is not seen, so that the
 * expected amount that stays hidden is what can be filled in the time between them.
 *
 * A process of the workload's that only root may look at (watch_proc_is_hidden()) counts with all that is resident in
 * it, and, as long as there is one, the sandbox with all that the host's shared memory has grown by: what it has open
 * or mapped cannot be seen. Of the disk, so long, with all that became less free there and that its folders do not
 * account for.
 *
 * Locks of files and what sockets hold count everywhere, for no cgroup counts all of that, and mappings and pipes with
 * memory (watch_kernel.h, watch_sockets.h). In cgroups of version 1 a limit of TCP buffers is not kept by the kernel
 * for what it gives each connection in any case: they are looked at, too.
 *
 * Members are found as watch_members.h has it. Processes that vanish while they are looked at are passed over.
 *
 * Storage is what the folders' files take on the disk (usage.h); files that have no name any more count as long as a
 * process has them open, not when they are only mapped.
 *
 * Owns fds and memory; watch_done() frees them. The pid must stay unreaped by the caller until then, or it could be
 * another's.
 */
#ifndef CORDON_SUPERVISE_WATCH_H
#define CORDON_SUPERVISE_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervise/usage.h"
#include "supervise/watch_files.h"
#include "supervise/watch_kernel.h"
#include "supervise/watch_members.h"
#include "supervise/watch_sockets.h"
#include "supervise/watch_tmpfs.h"

enum { WATCH_POLL_MS = 50, WATCH_POLL_FAST_MS = 10, WATCH_POLL_SLOW_MS = 100, WATCH_POLL_MAX_MS = 250 };

enum watch_verdict {
	WATCH_FINE,
	WATCH_MEMORY,    /* over the memory limit */
	WATCH_PROCESSES, /* over the process limit */
	WATCH_STORAGE,   /* its folders hold more than they may */
	WATCH_COPY,      /* the same, of the copy of a work folder */
	WATCH_DISK,      /* the disk that holds the sandbox's data is nearly full */
	WATCH_GONE,      /* PID 1 has ended */
};

struct watch_limits {
	uint64_t memory;    /* bytes; 0: not watched */
	uint64_t kernel;    /* bytes of what watch_kernel.h counts, and of buffers of sockets, with memory where that is
			       watched, else alone; 0: not watched */
	const struct cgroup *sockets; /* counts the TCP buffers; NULL: nobody does. Borrowed. */
	uint64_t processes; /* 0: not watched */
	const char *disk;   /* a path on the disk to watch, and those of the storage folders with it; NULL: not watched.
			       Borrowed. */
	uint64_t storage; /* bytes that storage_folders may hold, and files that were deleted there and are still open;
			     0: not watched */
	const char *const
		*storage_folders; /* NULL-terminated, the sandbox's own and those it shares; borrowed. NULL: none */
	bool storage_copy;   /* they are the copy of a work folder, which filesystem.tmp_size bounds beyond what was
				copied */
	bool storage_inside; /* to be read by root of the sandbox's user namespace, since we may not */
	int storage_user;    /* by root of this user namespace (borrowed); 0: no other than we */
	bool tree;	    /* init is no PID 1: the members are it and its descendants */
	bool foreign;	    /* they may be another user's: that we are not let look at one says nothing of it */
};

struct watch {
	struct watch_limits limits;
	struct watch_members members;
	pid_t ahead; /* of PID 1's: see watch_proc_is_hidden() */
	unsigned next_ms;
	/* What the last poll saw. */
	uint64_t processes;
	uint64_t memory; /* bytes: exact where step 2 was taken, else an upper bound */
	uint64_t memory_peak;
	/* State of the steps. */
	uint64_t shared_before;  /* the least that the host's shared memory was since the watch began */
	uint64_t shared_now;
	uint64_t shared_seen;    /* the host's shared memory at the last look at files */
	uint64_t tmpfs_bytes;	 /* what that look found */
	uint64_t shared_open,
		shared_mapped;   /* what the last look at shared found: memory that is open, and that is only mapped */
	uint64_t file_bytes;     /* what all of it counts as */
	uint64_t exact_after_us; /* no Pss before this time */
	uint64_t shared_after_us; /* no look at shared anonymous memory before this time */
	struct watch_files shared; /* which there is, with the largest size that was seen of each */
	size_t unseen;		   /* how many of them are mapped only */
	bool hides;		   /* one of them became smaller */
	dev_t shared_device;	   /* where they are */
	/* So many looks in a row, at memory and at the disk, met a process that cannot be looked at; a command that is
	 * about to be executed is one for a moment. */
	unsigned hidden, hidden_disk;
	struct watch_tmpfs tmpfs;
	struct watch_kernel kernel;
	struct watch_sockets sockets;
	unsigned tick;
	struct usage usage; /* of the storage folders; its userns may be set */
};

void watch_init(struct watch *w, pid_t init, const struct watch_limits *limits);
void watch_done(struct watch *w);

enum watch_verdict watch_poll(struct watch *w);

/* The limit that a verdict is about, as policy calls it, and what to say of it; NULL: none. */
const char *watch_limit_of(enum watch_verdict v, const char **ret_message);

/* True when less than 256 MiB or less than 2 % is free for this user. False where it cannot be told. */
bool watch_disk_low(const char *path);

/* The same, on figures. */
bool watch_is_low(uint64_t free_bytes, uint64_t total_bytes);

#endif
